import assert from "node:assert/strict";
import type { SandboxLimits } from "../../core/ports/sandbox.ts";
import { assertExit, commandOf, outputOf, perl, shell, text } from "./run-in-sandbox.ts";
import type { SandboxPromise } from "./sandbox-promise.ts";

const LIMITS: SandboxLimits = { cpus: 1, memoryMb: 128, storageMb: 128, pids: 64 };
const MIB = 1024 * 1024;

/** What the limits of a sandbox hold, and what its statistics tell. */
export const limitPromises: readonly SandboxPromise[] = [
  {
    promise:
      "a process that takes more memory than the limit is killed, reported, and leaves the sandbox usable",
    requires: { what: "limit on memory", holds: (caps) => caps.limits.memory },
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox({ limits: LIMITS });
      const before = await sandbox.stats();
      assert.equal(before.oomKills, 0);
      assertExit(
        await sandbox.exec(commandOf(perl("my $hog = 'x' x (400 * 1024 * 1024); sleep 5"))),
        137,
      );
      const { oomKills, peakMemoryBytes } = await sandbox.stats();
      assert.ok(oomKills !== null && oomKills >= 1, `oomKills ${String(oomKills)}`);
      assert.ok(
        peakMemoryBytes !== null && peakMemoryBytes > 100 * MIB,
        `peak ${String(peakMemoryBytes)}`,
      );
      assert.ok(peakMemoryBytes <= 128 * MIB, `peak ${String(peakMemoryBytes)}`);
      assertExit(await sandbox.exec(commandOf(["true"])), 0);
    },
  },
  {
    promise: "no more processes than the limit are made",
    requires: { what: "limit on processes", holds: (caps) => caps.limits.pids },
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox({ limits: LIMITS });
      const program = `
        my $made = 0;
        for (1 .. 200) { my $pid = fork; if (!defined $pid) { last } if ($pid == 0) { sleep 60; exit } $made++; push @all, $pid }
        print $made; kill 9, @all;`;
      const made = Number(text((await sandbox.exec(commandOf(perl(program)))).stdout));
      assert.ok(made >= 32 && made < 64, `made ${String(made)} processes`);
      assertExit(await sandbox.exec(commandOf(["true"])), 0);
    },
  },
  {
    promise: "a busy process gets no more processor time than the limit",
    requires: { what: "limit on the processor", holds: (caps) => caps.limits.cpu },
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox({ limits: { ...LIMITS, cpus: 0.3 } });
      const { cpuSeconds: before } = await sandbox.stats();
      const startedMs = performance.now();
      await sandbox.exec(shell("while :; do :; done", { timeoutMs: 1500 }));
      const elapsedSeconds = (performance.now() - startedMs) / 1000;
      const { cpuSeconds: after } = await sandbox.stats();
      assert.ok(before !== null && after !== null);
      // A loaded machine gives less, never more: only the upper bound is a promise.
      assert.ok(after > before, "no processor time was counted");
      assert.ok(
        after - before < 0.5 * elapsedSeconds,
        `${String(after - before)} s in ${String(elapsedSeconds)} s`,
      );
    },
  },
  {
    promise: "a full disk stops the writer, wherever it writes, and leaves the sandbox usable",
    requires: { what: "limit on the disk", holds: (caps) => caps.limits.disk },
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox({ limits: LIMITS });
      for (const folder of ["/tmp", "/usr/local", "/var/tmp"]) {
        const fill = await sandbox.exec(
          shell(
            `head -c 300M /dev/zero > ${folder}/big; code=$?; stat -c %s ${folder}/big; rm ${folder}/big; exit $code`,
          ),
        );
        assertExit(fill, 1);
        const writtenBytes = Number(text(fill.stdout));
        assert.ok(
          writtenBytes > 32 * MIB && writtenBytes <= 128 * MIB,
          `${String(writtenBytes)} bytes in ${folder}`,
        );
      }
      assert.equal(await outputOf(sandbox, "echo fits > /tmp/small && cat /tmp/small"), "fits");
    },
  },
  {
    promise: "memory-backed files count as memory",
    requires: { what: "limit on memory", holds: (caps) => caps.limits.memory },
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox({ limits: LIMITS });
      const fill = await sandbox.exec(shell("head -c 300M /dev/zero > /dev/shm/big"));
      assert.notEqual(fill.exitCode, 0);
      const { peakMemoryBytes } = await sandbox.stats();
      assert.ok(peakMemoryBytes !== null && peakMemoryBytes <= 128 * MIB);
    },
  },
];
