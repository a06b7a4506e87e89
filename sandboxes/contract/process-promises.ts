import assert from "node:assert/strict";
import {
  assertExit,
  commandOf,
  isRunning,
  outputOf,
  perl,
  shell,
  text,
  until,
  untilRunning,
} from "./run-in-sandbox.ts";
import { AGENT_UID, type SandboxPromise } from "./sandbox-promise.ts";

/** Two generations away from whoever started it, in a session of its own. */
const DOUBLE_FORK = (marker: string): string =>
  `( ( setsid sh -c 'trap "" TERM HUP INT; sleep ${marker}; sleep ${marker}' & ) & )`;

const FORK_BOMB = commandOf(perl("$SIG{TERM} = 'IGNORE'; fork while 1; "));

/** What the port promises about ending processes: deadlines, aborts, users, marks. */
export const processPromises: readonly SandboxPromise[] = [
  {
    promise:
      "a deadline kills the command and all that it started, daemons too, and keeps the output so far",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      await outputOf(sandbox, "setsid sleep 5001.5 >/dev/null 2>&1 & true");
      const done = await sandbox.exec(
        shell(
          `trap '' TERM; echo before; ${DOUBLE_FORK("5002.5")}; setsid sleep 5002.5 & (sleep 5002.5 &); while :; do sleep 5002.5; done`,
          { timeoutMs: 700 },
        ),
      );
      assert.equal(done.timedOut, true);
      assert.equal(text(done.stdout), "before\n");
      assert.equal(await isRunning(sandbox, "5002.5"), false);
      assert.equal(
        await isRunning(sandbox, "sleep 5001.5"),
        true,
        "an earlier daemon was killed too",
      );
    },
  },
  {
    promise: "a deadline kills a fork bomb",
    requires: { what: "limit on processes", holds: (caps) => caps.limits.pids },
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox({
        limits: { cpus: 1, memoryMb: 512, storageMb: 512, pids: 60 },
      });
      const done = await sandbox.exec({ ...FORK_BOMB, uid: AGENT_UID, timeoutMs: 500 });
      assert.equal(done.timedOut, true);
      assert.equal(await isRunning(sandbox, "IGNORE"), false);
    },
  },
  {
    promise: "an abort kills the command's tree and rejects with the signal's reason",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      const abort = new AbortController();
      const running = sandbox.exec(
        shell(`${DOUBLE_FORK("5003.5")}; sleep 5003.5`, { signal: abort.signal }),
      );
      await untilRunning(sandbox, "sleep 5003.5");
      const reason = new Error("stopped by the check");
      abort.abort(reason);
      await assert.rejects(running, reason);
      assert.equal(await isRunning(sandbox, "5003.5"), false);
      await assert.rejects(sandbox.exec(shell("true", { signal: abort.signal })), reason);
    },
  },
  {
    promise: "killUser ends every process of the uid, daemons too, and no one else's",
    requires: { what: "uid of its own for the agent", holds: (caps) => caps.uidSeparation },
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      assert.equal(await sandbox.killUser(AGENT_UID), 0);
      await outputOf(sandbox, "setsid sleep 5004.5 >/dev/null 2>&1 & true");
      await outputOf(sandbox, `${DOUBLE_FORK("5005.5")} >/dev/null 2>&1`, { uid: AGENT_UID });
      const process = await sandbox.spawn(shell("exec sleep 5005.5", { uid: AGENT_UID }));
      await untilRunning(sandbox, "sleep 5005.5");
      assert.equal(await sandbox.killUser(AGENT_UID), 0);
      assert.equal(await isRunning(sandbox, "5005.5"), false);
      assert.equal(await isRunning(sandbox, "sleep 5004.5"), true);
      assert.equal(await process.exitCode, 137);
    },
  },
  {
    promise: "killUser ends a fork bomb",
    requires: {
      what: "limit on processes and uid of its own for the agent",
      holds: (caps) => caps.limits.pids && caps.uidSeparation,
    },
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox({
        limits: { cpus: 1, memoryMb: 512, storageMb: 512, pids: 60 },
      });
      const bomb = await sandbox.spawn({ ...FORK_BOMB, uid: AGENT_UID });
      await new Promise((resolve) => {
        setTimeout(resolve, 300);
      });
      assert.equal(await sandbox.killUser(AGENT_UID), 0);
      await bomb.exitCode;
      assert.equal(await isRunning(sandbox, "IGNORE"), false);
      assertExit(await sandbox.exec(commandOf(["true"])), 0);
    },
  },
  {
    promise:
      "killSince ends what was not alive at the mark, children of older processes too, and nothing else",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      const older = await sandbox.spawn(
        shell("echo up; while read -r word; do setsid sleep $word & echo started; done"),
      );
      const output = older.stdout[Symbol.asyncIterator]();
      await output.next();
      const mark = await sandbox.mark();
      await older.write(new TextEncoder().encode("5006.5\n"));
      await output.next();
      await outputOf(sandbox, `${DOUBLE_FORK("5007.5")} >/dev/null 2>&1`);
      await untilRunning(sandbox, "sleep 5006.5");
      await untilRunning(sandbox, "sleep 5007.5");
      assert.equal(await sandbox.killSince(mark), 0);
      assert.equal(await isRunning(sandbox, "sleep 5006.5"), false);
      assert.equal(await isRunning(sandbox, "5007.5"), false);
      assert.equal(await isRunning(sandbox, "read -r word"), true, "a process of before the mark");
      await older.closeStdin();
      assert.equal(await older.exitCode, 0);
    },
  },
  {
    promise:
      "killSince spares what descends from the mark's keepers, and nothing that lost its parent",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      const before = new Set((await sandbox.mark()).processes);
      // A service that forks all the time, and one more child for each word it is sent.
      const service = await sandbox.spawn(
        shell("(while :; do sleep 0.05; done) & while read -r word; do $word & echo started; done"),
      );
      const output = service.stdout[Symbol.asyncIterator]();
      await untilRunning(sandbox, "sleep 0.05");
      const { processes } = await sandbox.mark();
      const keepers = processes.filter((each) => !before.has(each));
      await service.write(new TextEncoder().encode("sleep 5008.5\n"));
      await output.next();
      await outputOf(sandbox, `${DOUBLE_FORK("5009.5")} >/dev/null 2>&1`);
      await untilRunning(sandbox, "sleep 5008.5");
      await untilRunning(sandbox, "sleep 5009.5");
      assert.equal(await sandbox.killSince({ processes, keepers }), 0);
      assert.equal(await isRunning(sandbox, "sleep 5008.5"), true, "a child of a keeper");
      await untilRunning(sandbox, "sleep 0.05");
      assert.equal(await isRunning(sandbox, "5009.5"), false, "an orphan");
      await service.kill();
    },
  },
  {
    promise: "processes that end with no parent left are reaped",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      await outputOf(sandbox, "for n in 1 2 3 4 5 6 7 8 9; do (sh -c 'sleep 0.05' &) ; done");
      const zombies = async (): Promise<string> =>
        await outputOf(sandbox, "cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z ' || true");
      await until(async () => (await zombies()) === "0", "orphans stay as zombies");
    },
  },
];
