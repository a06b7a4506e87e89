import assert from "node:assert/strict";
import type { SandboxFixture, SandboxPromise } from "./sandbox-promise.ts";
import type { SandboxRecord } from "../../core/ports/sandbox.ts";
import { assertFails, commandOf, outputOf, shell, untilRunning } from "./run-in-sandbox.ts";
import { archiveOf, entry, readArchive } from "./sample-archive.ts";

/** What the port promises about owners, leases and ends. */
export const lifePromises: readonly SandboxPromise[] = [
  {
    promise: "a listing shows each sandbox with its owner, who is alive, and when its lease ends",
    check: async (fixture) => {
      const sandbox = await fixture.makeSandbox();
      const record = await recordOf(fixture, sandbox.id);
      assert.deepEqual(record?.owner, fixture.owner);
      assert.equal(record.ownerState, "alive");
      assert.ok(record.expiresAt !== null);
      const lifeMs = Date.parse(record.expiresAt) - Date.parse(record.createdAt);
      assert.ok(Math.abs(lifeMs - fixture.owner.leaseMs) < 5000, `lease of ${String(lifeMs)} ms`);
    },
  },
  {
    promise: "renew moves the end of the lease",
    check: async (fixture) => {
      const sandbox = await fixture.makeSandbox();
      const before = await recordOf(fixture, sandbox.id);
      await sandbox.renew(fixture.owner.leaseMs + 3_600_000);
      const after = await recordOf(fixture, sandbox.id);
      const movedMs = Date.parse(after?.expiresAt ?? "") - Date.parse(before?.expiresAt ?? "");
      assert.ok(movedMs >= 3_600_000 && movedMs < 3_660_000, `moved by ${String(movedMs)} ms`);
    },
  },
  {
    promise: "destroy leaves nothing, whatever runs inside, and may be called again",
    check: async (fixture) => {
      const sandbox = await fixture.makeSandbox();
      await outputOf(sandbox, "setsid sleep 7001.5 >/dev/null 2>&1 & echo x > /tmp/file");
      const running = sandbox.exec(shell("trap '' TERM; while :; do sleep 7001.5; done"));
      const spawned = await sandbox.spawn(commandOf(["cat"]));
      const ended = Promise.allSettled([running, spawned.exitCode]);
      await untilRunning(sandbox, "sleep 7001.5");
      assert.notDeepEqual(
        await fixture.leftovers(sandbox.id),
        [],
        "the search for leftovers is blind",
      );
      await Promise.all([sandbox.destroy(), sandbox.destroy()]);
      await sandbox.destroy();
      assert.deepEqual(await fixture.leftovers(sandbox.id), []);
      assert.equal(await recordOf(fixture, sandbox.id), undefined);
      const [execution] = await ended;
      assert.equal(execution?.status, "rejected");
      await assertFails(running, "lost");
    },
  },
  {
    promise: "every call to a sandbox that is gone fails as lost",
    check: async (fixture) => {
      const sandbox = await fixture.makeSandbox();
      await sandbox.destroy();
      await assertFails(sandbox.exec(commandOf(["true"])), "lost");
      await assertFails(sandbox.spawn(commandOf(["true"])), "lost");
      await assertFails(sandbox.put(archiveOf([entry({ name: "x" })]), "/tmp"), "lost");
      await assertFails(readArchive(sandbox.get("/tmp")), "lost");
      await assertFails(sandbox.killUser(10_001), "lost");
      await assertFails(sandbox.mark(), "lost");
      await assertFails(sandbox.killSince({ processes: [] }), "lost");
      await assertFails(sandbox.renew(1000), "lost");
    },
  },
  {
    promise: "remove ends a sandbox that someone else made, and a second remove does no harm",
    check: async (fixture) => {
      const sandbox = await fixture.makeSandbox();
      const running = sandbox.exec(shell("while :; do sleep 7002.5; done"));
      const outcome = Promise.allSettled([running]);
      await untilRunning(sandbox, "sleep 7002.5");
      await fixture.backend.remove(sandbox.id);
      assert.deepEqual(await fixture.leftovers(sandbox.id), []);
      await fixture.backend.remove(sandbox.id);
      await outcome;
      await assertFails(running, "lost");
      await assertFails(sandbox.exec(commandOf(["true"])), "lost");
    },
  },
  {
    promise: "a sandbox of a process that has ended is listed as an orphan",
    check: async (fixture) => {
      const [boot, namespace] = fixture.owner.process.split("/");
      const dead = `${boot ?? ""}/${namespace ?? ""}/4194303/1`;
      const foreign = `another-boot/${namespace ?? ""}/1/1`;
      const [orphan, stranger] = await Promise.all([
        fixture.makeSandbox({ owner: { ...fixture.owner, process: dead } }),
        fixture.makeSandbox({ owner: { ...fixture.owner, process: foreign } }),
      ]);
      assert.equal((await recordOf(fixture, orphan.id))?.ownerState, "dead");
      assert.equal((await recordOf(fixture, stranger.id))?.ownerState, "unknown");
      await fixture.backend.remove(orphan.id);
      assert.deepEqual(await fixture.leftovers(orphan.id), []);
    },
  },
  {
    promise: "a creation that is aborted makes nothing",
    check: async (fixture) => {
      const reason = new Error("stopped by the check");
      const before = (await fixture.backend.list()).length;
      await assert.rejects(fixture.makeSandbox({ signal: AbortSignal.abort(reason) }), reason);
      assert.equal((await fixture.backend.list()).length, before);
    },
  },
  {
    promise: "sandboxes are made and ended side by side",
    check: async (fixture) => {
      const sandboxes = await Promise.all(Array.from({ length: 4 }, () => fixture.makeSandbox()));
      assert.equal(new Set(sandboxes.map(({ id }) => id)).size, 4);
      await Promise.all(
        sandboxes.map(async (sandbox, n) => {
          assert.equal(
            await outputOf(sandbox, `echo ${String(n)} > /tmp/n; cat /tmp/n`),
            String(n),
          );
          await sandbox.destroy();
          assert.deepEqual(await fixture.leftovers(sandbox.id), []);
        }),
      );
    },
  },
];

async function recordOf(fixture: SandboxFixture, id: string): Promise<SandboxRecord | undefined> {
  return (await fixture.backend.list()).find((record) => record.id === id);
}
