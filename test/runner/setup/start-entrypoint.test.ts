import { describe, expect, test } from "vitest";
import type { PreparedImage, Sandbox } from "../../../core/ports/sandbox.ts";
import { startEntrypoint } from "../../../runner/setup/start-entrypoint.ts";
import { FakeClock } from "../../fakes/fake-clock.ts";
import type { MemoryProgram } from "../../fakes/memory-sandboxes/memory-program.ts";
import { MemorySandboxes } from "../../fakes/memory-sandboxes/memory-sandboxes.ts";
import { attemptFiles } from "../verifier/attempt-files.ts";

const PASSWD = "root:x:0:0::/root:/bin/sh\napp:x:1000:1000::/home/app:/bin/sh\nodd:x:1001:100::/:";
const GROUP = "root:x:0:\napp:x:1000:\nusers:x:100:\n";

/** Shells of the set-up only read the image's tables. */
const sh: MemoryProgram = async ({ argv, print }) => {
  print(argv.at(-1) === "/etc/passwd" ? PASSWD : GROUP);
  return 0;
};

const untilKilled = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve());
  });

/** A script that ends in `exec "$@"`: it prints what the command behind it prints, and waits. */
const passing: MemoryProgram = async ({ argv, uid, cwd, env, print, signal }) => {
  print(`uid ${uid} in ${cwd}, HOME=${env["HOME"]} A=${env["A"]}: ${argv.slice(1, 4).join(" ")}\n`);
  const [, text = ""] = /^echo '(.*)'; exec sleep \d+$/u.exec(argv.at(-1) ?? "") ?? [];
  print(`${text}\n`);
  await untilKilled(signal);
  return 137;
};

async function aScene(program: MemoryProgram, over: Partial<PreparedImage> = {}) {
  const programs = new Map([
    ["sh", sh],
    ["entry", program],
  ]);
  const backend = new MemorySandboxes({ programs });
  const owner = { runId: "r", jobName: "j", rolloutName: "t", process: "p", leaseMs: 60_000 };
  const limits = { cpus: 1, memoryMb: 64, storageMb: 64, pids: 64 };
  const { signal } = new AbortController();
  const image: PreparedImage = {
    id: "image",
    digest: null,
    workdir: "/app",
    env: {},
    user: "",
    entrypoint: ["entry", "one"],
    builtHere: false,
    ...over,
  };
  const sandbox: Sandbox = await backend.create({
    image,
    owner,
    limits,
    network: "closed",
    env: {},
    signal,
  });
  const files = await attemptFiles();
  const clock = new FakeClock();
  const request = { image, env: { A: "1" }, folder: files.folder, clock, signal };
  const startIn = async (box: Sandbox) => await startEntrypoint(box, request);
  return { sandbox, files, clock, startIn, start: async () => await startIn(sandbox) };
}

describe("an image's ENTRYPOINT", () => {
  test("is started with a command behind it that waits, as the image's user, in its folder", async () => {
    const { sandbox, files, start } = await aScene(passing, { user: "app" });
    const running = await start();
    expect(running).toMatchObject({ uid: 1000, before: { processes: [] } });
    expect((await sandbox.mark()).processes).toHaveLength(1);
    expect(await running?.end()).toEqual([]);
    expect(await running?.end()).toEqual([]);
    expect(files.text("entrypoint.txt")).toBe(
      "uid 1000 in /app, HOME=/home/app A=1: one sh -c\nbenchflow: the ENTRYPOINT has come to its command\n",
    );
  });

  test("that is none starts nothing and leaves no file", async () => {
    const { sandbox, files, start } = await aScene(passing, { entrypoint: [] });
    expect(await start()).toBeNull();
    expect((await sandbox.mark()).processes).toEqual([]);
    expect(files.paths()).toEqual([]);
  });

  test("that is a server in front is waited for 5 s, and goes on", async () => {
    const { sandbox, clock, start } = await aScene(async ({ print, signal }) => {
      print("listening\n");
      await untilKilled(signal);
      return 137;
    });
    const starting = start();
    while (clock.sleeping === 0) await new Promise(setImmediate);
    await clock.advance(5000);
    expect(await starting).not.toBeNull();
    expect((await sandbox.mark()).processes).toHaveLength(1);
  });

  test("that ends before its command ends the trial, told with its last words", async () => {
    const { files, start } = await aScene(async ({ complain }) => {
      complain("no config\n");
      return 3;
    });
    await expect(start()).rejects.toMatchObject({
      failure: "entrypoint-ended",
      message:
        'the image\'s ENTRYPOINT ended with exit code 3, and has to keep running or end in exec "$@": no config',
    });
    expect(files.text("entrypoint.txt")).toBe("no config\n");
  });

  test("that ends is told although what it left behind holds its output open", async () => {
    const { sandbox, clock, startIn } = await aScene(passing);
    const open = new AbortController();
    // Never ends, as a pipe that a daemon has.
    async function* silence(): AsyncGenerator<Uint8Array> {
      await untilKilled(open.signal);
      yield* [];
    }
    const starting = startIn({
      mark: () => sandbox.mark(),
      spawn: async () => ({
        stdout: silence(),
        stderr: silence(),
        closeStdin: async () => undefined,
        exitCode: Promise.resolve(2),
      }),
    } as unknown as Sandbox);
    starting.catch(() => undefined);
    while (clock.sleeping < 2) await new Promise(setImmediate);
    await clock.advance(200);
    await expect(starting).rejects.toMatchObject({
      failure: "entrypoint-ended",
      message: expect.stringContaining("exit code 2"),
    });
    open.abort();
  });

  test("that ends later is told in the result", async () => {
    const ending = new AbortController();
    const { sandbox, start } = await aScene(async (run) => {
      void passing(run);
      await untilKilled(ending.signal);
      return 9;
    });
    const running = await start();
    ending.abort();
    while ((await sandbox.mark()).processes.length > 0) await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(await running?.end()).toEqual([
      "the image's ENTRYPOINT ended by itself, with exit code 9",
    ]);
  });

  test.each([
    ["odd", "unsupported", /uid 1001 and gid 100, and its ENTRYPOINT is run only where/u],
    ["app:users", "unsupported", /uid 1000 and gid 100/u],
    ["who", "start-failed", /the image has no user "who"/u],
  ])("of the user %s is refused as %s", async (user, failure, message) => {
    const { start } = await aScene(passing, { user });
    await expect(start()).rejects.toMatchObject({
      failure,
      message: expect.stringMatching(message),
    });
  });

  test.each([
    ["", 0],
    ["root", 0],
    ["0:0", 0],
    ["app:app", 1000],
    ["1000:1000", 1000],
    ["4242:4242", 4242],
  ])("of the user %j runs as uid %i", async (user, uid) => {
    const { start } = await aScene(passing, { user });
    expect((await start())?.uid).toBe(uid);
  });
});
