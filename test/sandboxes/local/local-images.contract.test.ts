import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalSandboxes } from "../../../sandboxes/local/local-sandboxes.ts";
import { ImageWorkshop } from "./image-workshop.ts";
import { openLocal } from "./open-local.ts";

let shop: ImageWorkshop;

beforeAll(async () => {
  shop = await ImageWorkshop.open();
});

afterAll(async () => {
  await shop.close();
});

describe("a build that fails", () => {
  test("of itself names the line, the exit code and the last lines, and blames no network", async () => {
    const script = "for n in 1 2 3 4 5 6; do echo line $n >&2; done; exit 7";
    expect(await shop.failure(`FROM debian\nRUN true\nRUN ${script}\n`)).toBe(
      "build-failed: Dockerfile:3: RUN ended with exit code 7: line 2 | line 3 | line 4 | line 5 | line 6",
    );
    expect(await shop.failure("FROM debian\nRUN false\n")).toBe(
      "build-failed: Dockerfile:2: RUN ended with exit code 1",
    );
  });

  test("for want of a network or of a program is this machine's lack, with the way out", async () => {
    expect(
      await shop.failure("FROM debian\nRUN echo no route >&2; curl --version >&2; exit 100\n"),
    ).toMatch(
      /^unsupported: Dockerfile:2: RUN ended with exit code 100 \(.*\): it calls curl, and local build steps have no network: install what is missing on this machine, or use --env docker$/u,
    );
    expect(await shop.failure("FROM debian\nRUN no-such-program\n")).toMatch(
      /^unsupported: Dockerfile:2: RUN ended with exit code 127 \(.*no-such-program.*\): local sandboxes have this machine's programs only: install it, or use --env docker$/u,
    );
  });

  test("at its deadline is a timeout, and leaves nothing", async () => {
    const text = await shop.failure(
      "FROM debian\nRUN setsid sleep 3000 & sleep 3000\n",
      {},
      { timeoutMs: 1500 },
    );
    expect(text).toBe("build-timeout: the image was not ready in 1.5 s");
    expect(readdirSync(join(shop.local.stateDir, "images"))).toEqual([]);
  });

  test("at an abort rejects with the reason", async () => {
    const abort = new AbortController();
    const reason = new Error("stopped by the test");
    const building = shop.build("FROM debian\nRUN sleep 3000\n", {}, { signal: abort.signal });
    setTimeout(() => {
      abort.abort(reason);
    }, 500);
    await expect(building).rejects.toBe(reason);
  });

  test("is held by the trial's limits: disk, memory, processes", async () => {
    const limits = { cpus: 1, memoryMb: 64, storageMb: 32, pids: 40 };
    expect(
      await shop.failure("FROM debian\nRUN head -c 100M /dev/zero > /big\n", {}, { limits }),
    ).toMatch(/No space left/u);
    expect(
      await shop.failure("FROM debian\nRUN perl -e 'my $x = \"x\" x 300000000'\n", {}, { limits }),
    ).toContain("exit code 137");
    expect(
      await shop.failure(
        "FROM debian\nRUN perl -e 'for (1..100) { defined fork or exit 9 } sleep 1'\n",
        {},
        { limits },
      ),
    ).toContain("exit code 9");
  });

  test("says what it cannot copy, who it does not know, and what only Docker can", async () => {
    expect(await shop.failure("FROM debian\nCOPY missing /x\n")).toBe(
      "build-failed: Dockerfile:2: missing is not in the build context",
    );
    expect(await shop.failure("FROM debian\nUSER nobody-we-know\nRUN true\n")).toContain(
      'Dockerfile:3: no user "nobody-we-know"',
    );
    expect(await shop.failure("FROM debian\nADD https://x.org/a /a\n")).toMatch(
      /^unsupported: Dockerfile:2: .*use --env docker$/u,
    );
    expect(await shop.failure("FROM julia:1.10\n")).toMatch(
      /^unsupported: FROM julia:1.10 promises julia/u,
    );
  });

  test("is not kept, so that the next try builds again", async () => {
    const request = shop.requestFor("FROM debian\nCOPY fixed /fixed\n");
    await expect(shop.local.backend.prepare(request)).rejects.toThrow(
      "fixed is not in the build context",
    );
    writeFileSync(join(request.contextDir, "fixed"), "now it is");
    expect(await shop.seen(await shop.local.backend.prepare(request), "cat /fixed")).toBe(
      "now it is",
    );
  });
});

describe("an image", () => {
  test("is built once however many ask at once, in this process and others, and the others wait", async () => {
    const request = shop.requestFor(
      "FROM debian\nRUN echo built once; sleep 1; date +%s.%N > /stamp\n",
    );
    const program = fileURLToPath(new URL("prepare-image.ts", import.meta.url));
    const digest =
      request.source.kind === "dockerfile"
        ? request.source.contextDigest.slice("sha256:".length)
        : "";
    const other = spawn(
      process.execPath,
      ["--import", "tsx", program, shop.local.stateDir, request.contextDir, digest],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let output = "";
    other.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    const lines: string[] = [];
    const second = await LocalSandboxes.open({ stateDir: shop.local.stateDir, localInclude: [] });
    const onLine = (line: string): void => {
      lines.push(line);
    };
    const [one, two, three] = await Promise.all([
      shop.local.backend.prepare({ ...request, onLine }),
      shop.local.backend.prepare({ ...request, onLine }),
      second.prepare({ ...request, onLine }),
      once(other, "close"),
    ]);
    await second.close();
    const built = [...lines, ...output.split("\n")].filter((line) => line === "built once");
    expect(built).toHaveLength(1);
    expect(new Set([one.id, two.id, three.id]).size).toBe(1);
    expect(output).toContain(one.id);
    const builders =
      [one, two, three].filter(({ builtHere }) => builtHere).length +
      (output.includes("builtHere") ? 1 : 0);
    expect(builders).toBe(1);
    expect((await shop.local.backend.prepare(request)).builtHere).toBe(false);
  });

  test("a waiter that gives up leaves the builder alone", async () => {
    const request = shop.requestFor("FROM debian\nRUN sleep 1.5\n");
    const building = shop.local.backend.prepare(request);
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
    const waiting = shop.local.backend.prepare({ ...request, signal: AbortSignal.timeout(300) });
    await expect(waiting).rejects.toThrow(/timeout/u);
    expect((await building).builtHere).toBe(true);
  });

  test("is removed when nobody uses it, and kept while a sandbox or a live run does", async () => {
    const mine = await shop.build("FROM debian\nRUN touch /mine\n");
    const other = await openLocal();
    try {
      const image = await other.backend.prepare(shop.requestFor("FROM debian\nRUN touch /x\n"));
      // This process lives and has asked for it.
      expect(await other.backend.removeImages()).toEqual([]);
      const users = join(other.stateDir, "images", image.id, "users");
      for (const name of readdirSync(users)) rmSync(join(users, name));
      const sandbox = await other.create(image);
      expect(await other.backend.removeImages()).toEqual([]);
      await sandbox.destroy();
      expect(await other.backend.removeImages()).toEqual([image.id]);
      expect(readdirSync(join(other.stateDir, "images"))).toEqual([]);
      await expect(other.create(image)).rejects.toThrow(`image ${image.id} is not there any more`);
      expect(await other.backend.list()).toEqual([]);
    } finally {
      await other.close();
    }
    expect(await shop.seen(mine, "ls /mine")).toBe("/mine");
  });
});

test("an image never has what is left out of its context, by COPY . or by name", async () => {
  const dockerfile =
    "FROM debian\nCOPY . /all/\nCOPY skills/ /opt/skills/\nCOPY a skills /opt/x/\n";
  const files = { a: "a", "skills/one/SKILL.md": "secret" };
  const request = shop.requestFor(dockerfile, files, { leaveOut: ["skills"] });
  const script = "find /all /opt/skills /opt/x 2>/dev/null || true";
  const without = await shop.seen(await shop.local.backend.prepare(request), script);
  expect(without).toContain("/all/Dockerfile");
  expect(without).toContain("/opt/x/a");
  expect(without).not.toMatch(/skills|SKILL/u);
  // The same context with everything is another image.
  const { leaveOut: _, ...whole } = request;
  expect(await shop.seen(await shop.local.backend.prepare(whole), script)).toMatch(
    /\/opt\/skills\/one\/SKILL\.md/u,
  );
});

const entrypointOf = async (...lines: readonly string[]) => {
  const text = ["FROM debian", ...lines, ""].join("\n");
  return (await shop.build(text)).entrypoint;
};

test("an image's ENTRYPOINT is told word by word, in the form in which it is started", async () => {
  expect(await entrypointOf("RUN true")).toEqual([]);
  expect(await entrypointOf('ENTRYPOINT ["/a b", "c"]')).toEqual(["/a b", "c"]);
  expect(await entrypointOf('ENTRYPOINT ["x"]', "ENTRYPOINT []")).toEqual([]);
  expect(await entrypointOf('SHELL ["/bin/sh", "-ec"]', "ENTRYPOINT a && b $C")).toEqual([
    "/bin/sh",
    "-ec",
    "a && b $C",
  ]);
});
