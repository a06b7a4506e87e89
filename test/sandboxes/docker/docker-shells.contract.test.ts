import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Command, PreparedImage, Sandbox } from "../../../core/ports/sandbox.ts";
import { archiveOf, entry, readArchive } from "../../../sandboxes/contract/sample-archive.ts";
import { commandOf, shell, text } from "../../../sandboxes/contract/run-in-sandbox.ts";
import { dockerHost } from "../../setup/docker-host.ts";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { LIMITS, OWNER, prebuilt } from "./docker-fixture.ts";
import { ImageWorkshop } from "./image-workshop.ts";

const UID = 10_001;
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

let backend: DockerSandboxes;
let shop: ImageWorkshop;

beforeAll(async () => {
  backend = await DockerSandboxes.connect({ env: { DOCKER_HOST: dockerHost() } });
  shop = new ImageWorkshop(dockerHost(), backend);
});

afterAll(async () => {
  await shop.close();
});

/** Images whose /bin/sh is another shell, or that lack a program that the supervisor would use. */
const IMAGES: Readonly<Record<string, () => Promise<PreparedImage>>> = {
  "busybox alone": async () => await prebuilt(backend, "bench-base:busybox"),
  "bash as /bin/sh": async () => await built("RUN ln -sf bash /bin/sh"),
  "no tar": async () => await built("RUN rm /bin/tar /usr/bin/tar || test ! -e /usr/bin/tar"),
  "no setsid": async () => await built("RUN rm /usr/bin/setsid"),
  "an environment that steers shells": async () =>
    await built("ENV ENV=/etc/passwd BASH_ENV=/etc/passwd IFS=/ PATH=/nowhere LD_PRELOAD=/x.so"),
};

describe.for(Object.keys(IMAGES))("an image with %s", (name) => {
  let sandbox: Sandbox;

  beforeEach(async () => {
    const image = await IMAGES[name]?.();
    if (image === undefined) throw new Error(name);
    sandbox = await backend.create({
      image,
      owner: OWNER,
      limits: LIMITS,
      network: "closed",
      env: {},
      signal: new AbortController().signal,
    });
  });

  afterEach(async () => {
    await sandbox.destroy();
  });

  test.for([0, UID])("runs commands of uid %i to the letter", async (uid) => {
    const args = ["a b", "", "$HOME", "'\"\\", "line\nbreak", "ü€", "*"];
    const printed = await sandbox.exec(commandOf(["printf", "%s|", ...args], { uid }));
    expect(text(printed.stdout)).toBe(`${args.join("|")}|`);
    for (const code of [0, 3, 255])
      expect((await sandbox.exec(shell(`exit ${String(code)}`, { uid }))).exitCode).toBe(code);
    expect((await sandbox.exec(shell("kill -KILL $$", { uid }))).exitCode).toBe(137);
    expect((await sandbox.exec(commandOf(["no-such-program"], { uid }))).exitCode).toBe(127);
    const env = { PATH, TEXT: "two 'words'\nand a line", IFS: "x" };
    const seen = await sandbox.exec(commandOf(["env"], { uid, env }));
    // Bash adds what it cannot be kept from adding: `_`, the path of the program.
    const lines = text(seen.stdout)
      .split(/\n(?=[A-Z_]+=)/u)
      .filter((line) => !line.startsWith("_="));
    expect(lines.join("\n").trim().split("\n").toSorted()).toEqual(
      ["IFS=x", `PATH=${PATH}`, "TEXT=two 'words'", "and a line"].toSorted(),
    );
    expect(text((await sandbox.exec(shell("id -u; id -G", { uid }))).stdout)).toBe(
      `${String(uid)}\n${String(uid)}\n`,
    );
  });

  test.for([0, UID])("kills what a command of uid %i started when its time is up", async (uid) => {
    const script = "(sleep 321 &) ; sleep 321 & echo up; while :; do sleep 321; done";
    const done = await sandbox.exec(shell(script, { uid, timeoutMs: 700 }));
    expect([done.timedOut, text(done.stdout)]).toEqual([true, "up\n"]);
    expect(await count(sandbox, "321")).toBe("0");
  });

  test("ends all of a user, survives root's kill of everything, and tells what it used", async () => {
    const daemon: Command = shell("(sleep 322 &) ; (sleep 322 &) ; true", { uid: UID });
    await sandbox.exec(daemon);
    expect(await count(sandbox, "322")).toBe("2");
    const mark = await sandbox.mark();
    expect(await sandbox.killUser(UID)).toBe(0);
    expect(await count(sandbox, "322")).toBe("0");
    await sandbox.exec(shell("kill -9 -1"));
    await sandbox.exec(shell("(sleep 323 &) ; true"));
    expect(await sandbox.killSince(mark)).toBe(0);
    expect(await count(sandbox, "323")).toBe("0");
    const { peakMemoryBytes, oomKills, cpuSeconds } = await sandbox.stats();
    expect(oomKills).toBe(0);
    expect(peakMemoryBytes).toBeGreaterThan(0);
    expect(cpuSeconds).toBeGreaterThan(0);
  });

  test("takes and gives files", async () => {
    const [large, small] = [
      Buffer.alloc(200_000, "x"),
      Buffer.from("'\"$x`%s\\0\n\0\x81\xff", "latin1"),
    ];
    await sandbox.put(archiveOf([entry({ name: "a/b", content: large })]), "/in/large");
    await sandbox.put(
      archiveOf([entry({ name: "a/b", content: small, mode: 0o750 })]),
      "/in/small",
    );
    const back = [
      ...(await readArchive(sandbox.get("/in"))),
      ...(await readArchive(sandbox.get("/in/small"))),
    ];
    const found = (path: string) => back.find(({ header }) => String(header.name) === path);
    expect(found("in/large/a/b")?.content).toEqual(large);
    expect(found("in/small/a/b")?.content).toEqual(small);
    expect(found("small/a/b")?.content).toEqual(small);
    expect(found("small/a/b")?.header).toMatchObject({ mode: 0o750, mtimeSeconds: 1_600_000_000 });
  });
});

async function built(...lines: readonly string[]): Promise<PreparedImage> {
  const Dockerfile = ["FROM bench-base:debian", ...lines].join("\n");
  return await backend.prepare(shop.contextOf({ Dockerfile }));
}

/** How many processes sleep that long. */
async function count(sandbox: Sandbox, seconds: string): Promise<string> {
  const script = `n=0; for f in /proc/[0-9]*/cmdline; do case $(tr '\\0' ' ' <$f 2>/dev/null) in "sleep ${seconds} ") n=$((n + 1)) ;; esac; done; echo $n`;
  return text((await sandbox.exec(shell(script))).stdout).trim();
}
