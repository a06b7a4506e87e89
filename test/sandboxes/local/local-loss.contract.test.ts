import { readFileSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../core/ports/sandbox.ts";
import { leftoversOf } from "./leftovers.ts";
import { type OpenLocal, openLocal, run } from "./open-local.ts";

/** Pid on the host of the sandbox's first process. */
function firstProcessOf({ id }: Sandbox): number {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/u.test(name))) {
    try {
      const isInside = readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(id);
      const isFirst = /^NSpid:\s+\d+\s+1$/mu.test(readFileSync(`/proc/${pid}/status`, "utf8"));
      if (isInside && isFirst) return Number(pid);
    } catch {
      // It ended while it was looked at.
    }
  }
  throw new Error(`no first process of ${id}`);
}

async function* oneBlock(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1024);
}

describe("a local sandbox that is lost", () => {
  let local: OpenLocal;

  beforeAll(async () => {
    local = await openLocal();
  });

  afterAll(async () => {
    await local.close();
  });

  test("fails what runs in it and all that follows as lost, and is not started again (C-41, C-43)", async () => {
    const sandbox = await local.create();
    const running = run(sandbox, "sleep 1000");
    const spawned = await sandbox.spawn({ argv: ["cat"], uid: 0, cwd: "/", env: {} });
    const outcomes = Promise.allSettled([running, spawned.exitCode]);
    process.kill(firstProcessOf(sandbox), "SIGKILL");
    await expect(running).rejects.toMatchObject({ failure: "lost" });
    await expect(spawned.exitCode).rejects.toMatchObject({ failure: "lost" });
    await outcomes;
    await expect(run(sandbox, "true")).rejects.toMatchObject({ failure: "lost" });
    await expect(sandbox.put(oneBlock(), "/x")).rejects.toMatchObject({ failure: "lost" });
    const { diskBytes } = await sandbox.stats();
    expect(diskBytes).toBeNull();
    await sandbox.destroy();
    expect(leftoversOf(local.stateDir, sandbox.id)).toEqual([]);
  });

  test("cannot be ended from inside, by root neither", async () => {
    const sandbox = await local.create();
    const attempts =
      "kill -9 1; kill -TERM 1; kill -STOP 1; perl -e 'kill 9, -1; kill 9, 1'; perl -e 'syscall(101, 16, 1, 0, 0) == 0 and print \"attached\"'; rm -rf --no-preserve-root / 2>/dev/null";
    const tried = run(sandbox, attempts);
    // The script kills itself with `kill 9, -1`: what counts is who is left.
    expect((await tried).out).not.toContain("attached");
    const listed = await local.backend.list();
    expect(listed.map(({ id }) => id)).toContain(sandbox.id);
    expect(await sandbox.killUser(10_001)).toBe(0);
    expect((await sandbox.stats()).diskBytes).toBeGreaterThan(0);
  });

  test("while it starts, by an abort at any moment, leaves nothing", async () => {
    const before = await local.backend.list();
    for (let afterMs = 0; afterMs < 60; afterMs += 6) {
      const abort = new AbortController();
      const reason = new Error("stopped by the test");
      const creating = local.create(undefined, { signal: abort.signal });
      setTimeout(() => {
        abort.abort(reason);
      }, afterMs);
      const outcome = await creating.catch((error: unknown) => error);
      if (outcome !== reason) await (outcome as Sandbox).destroy();
    }
    expect(await local.backend.list()).toEqual(before);
  });
});
