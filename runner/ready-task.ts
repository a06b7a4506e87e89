import type { Healthcheck, SetupCommand, Task } from "../core/model/task.ts";
import type { Clock } from "../core/ports/clock.ts";
import { type Completed, type Sandbox, SandboxError } from "../core/ports/sandbox.ts";
import { lastText } from "./output-text.ts";

export interface TaskReadiness {
  readonly task: Task;
  readonly sandbox: Sandbox;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const SHOWN_OUTPUT_CHARS = 300;

/**
 * Makes the task's own environment ready before an agent sees it (spec 6.4): its health check until
 * it holds, then its setup commands in order. Throws `SandboxError` (`start-failed`) with the end of
 * the output of whatever failed.
 */
export async function readyTask(readiness: TaskReadiness): Promise<void> {
  const { healthcheck, setupCommands } = readiness.task.config.sandbox;
  if (healthcheck === null && setupCommands.length === 0) return;
  await makeWorkdir(readiness);
  if (healthcheck !== null) await awaitHealth(readiness, healthcheck);
  for (const command of setupCommands) await runSetupCommand(readiness, command);
}

async function makeWorkdir({ sandbox, workdir, env, signal }: TaskReadiness): Promise<void> {
  const made = await sandbox.exec({
    argv: ["/bin/sh", "-c", 'mkdir -p -- "$1"', "sh", workdir],
    uid: 0,
    cwd: "/",
    env,
    timeoutMs: 30_000,
    signal,
  });
  if (made.exitCode !== 0) throw failed(`making ${JSON.stringify(workdir)}`, made);
}

/** Docker's rules: failures within the start period do not count, then `retries` in a row fail. */
async function awaitHealth(readiness: TaskReadiness, check: Healthcheck): Promise<void> {
  const { clock, signal } = readiness;
  const startedMs = clock.monotonicMs();
  for (let failures = 0; ;) {
    const completed = await runShell(readiness, {
      command: check.command,
      timeoutSec: check.timeoutSec,
      cwd: readiness.workdir,
      env: {},
    });
    if (completed.exitCode === 0 && !completed.timedOut) return;
    const inStartPeriod = clock.monotonicMs() - startedMs < check.startPeriodSec * 1000;
    if (!inStartPeriod) failures += 1;
    if (failures >= check.retries)
      throw failed(`health check ${JSON.stringify(check.command)}`, completed);
    await clock.sleep((inStartPeriod ? check.startIntervalSec : check.intervalSec) * 1000, signal);
  }
}

async function runSetupCommand(readiness: TaskReadiness, command: SetupCommand): Promise<void> {
  const completed = await runShell(readiness, {
    command: command.command,
    timeoutSec: command.timeoutSec,
    cwd: command.cwd ?? readiness.workdir,
    env: command.env,
  });
  if (completed.exitCode !== 0 || completed.timedOut)
    throw failed(`setup command ${JSON.stringify(command.command)}`, completed);
}

interface ShellLine {
  readonly command: string;
  readonly timeoutSec: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

async function runShell(readiness: TaskReadiness, line: ShellLine): Promise<Completed> {
  return await readiness.sandbox.exec({
    argv: ["/bin/sh", "-c", line.command],
    uid: 0,
    cwd: line.cwd,
    env: { ...readiness.env, HOME: "/root", ...line.env },
    timeoutMs: line.timeoutSec * 1000,
    maxOutputBytes: 64 * 1024,
    signal: readiness.signal,
  });
}

function failed(what: string, completed: Completed): SandboxError {
  const how = completed.timedOut ? "ran out of time" : `exited with ${String(completed.exitCode)}`;
  const output = lastText(Buffer.concat([completed.stdout, completed.stderr]), SHOWN_OUTPUT_CHARS);
  return new SandboxError("start-failed", `${what} ${how}: ${output.trim()}`);
}
