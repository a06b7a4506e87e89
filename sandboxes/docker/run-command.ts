import { timerMs } from "../../core/model/timer-limit.ts";
import { type Command, type Completed, SandboxError } from "../../core/ports/sandbox.ts";
import type { ControlChannel, JobEnd, Worker } from "./control-channel.ts";
import type { Victims } from "./end-processes.ts";
import type { ExecSession } from "./exec-session.ts";
import { workerLine } from "./exec-wrapper.ts";
import { KeptOutput } from "../kept-output.ts";

/** Streams of a killed command end at once, or someone else holds them. */
const DRAIN_MS = 5000;

/** What a running command needs of its sandbox. */
export interface CommandHost {
  readonly control: ControlChannel;
  start(command: Command, hasStdin: boolean): Promise<StartedSession>;
  /** Kills until none is left; throws when some are. */
  end(victims: Victims): Promise<void>;
  /** Pids of the commands that run now, but this one. */
  otherRoots(except: string | null): readonly string[];
  /** Throws `lost` when the sandbox has gone. */
  assertAlive(): Promise<void>;
}

export interface StartedSession {
  readonly session: ExecSession;
  /** Processes that were there before. */
  readonly older: readonly string[];
}

/** What bounds a command's run and its output. */
export type RunLimits = Pick<
  Command,
  "cwd" | "timeoutMs" | "maxOutputBytes" | "onOutput" | "signal"
>;

/** What the worker is to run, as one line of its shell (`workerLine`). */
export type JobLine = (id: string, worker: Worker) => string;

/** Collects a command's output and hands it on; a listener that throws fails the command. */
class OutputSink {
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly #listen: Command["onOutput"];
  readonly failed: Promise<never>;
  #fail: (error: unknown) => void = () => undefined;

  constructor({ maxOutputBytes, onOutput }: RunLimits) {
    this.stdout = new KeptOutput(maxOutputBytes);
    this.stderr = new KeptOutput(maxOutputBytes);
    this.#listen = onOutput;
    this.failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  add(stream: "stdout" | "stderr", chunk: Uint8Array): void {
    this[stream].push(chunk);
    try {
      this.#listen?.(stream, chunk);
    } catch (error) {
      this.#fail(error);
    }
  }

  completed(exitCode: number, timedOut: boolean): Completed {
    return {
      exitCode,
      stdout: this.stdout.bytes(),
      stderr: this.stderr.bytes(),
      droppedBytes: this.stdout.droppedBytes + this.stderr.droppedBytes,
      timedOut,
    };
  }
}

/** Why a command was ended before its own end. */
type Stop = { readonly kind: "deadline" } | { readonly kind: "failed"; readonly error: unknown };

/** Runs a command to its end: in the supervisor's worker when it can take it, else by the daemon's exec. */
export async function runCommand(host: CommandHost, command: Command): Promise<Completed> {
  command.signal?.throwIfAborted();
  const sink = new OutputSink(command);
  // A root command without input is the same there, and starts in a tenth of the time.
  if (command.uid === 0 && command.stdin === undefined) {
    const line: JobLine = (id, { setsid }) => workerLine(id, command, setsid);
    const completed = await runJob(host, line, { limits: command, sink });
    if (completed !== null) return completed;
  }
  return await runByExec(host, command, sink);
}

/** Runs a line in the supervisor's worker and nowhere else: null when that cannot take it now. */
export async function runInWorker(
  host: CommandHost,
  line: JobLine,
  limits: RunLimits,
): Promise<Completed | null> {
  limits.signal?.throwIfAborted();
  return await runJob(host, line, { limits, sink: new OutputSink(limits) });
}

async function runJob(
  host: CommandHost,
  line: JobLine,
  { limits, sink }: { limits: RunLimits; sink: OutputSink },
): Promise<Completed | null> {
  const job = host.control.runJob(line, (stream, chunk) => {
    sink.add(stream, chunk);
  });
  const outcome = await untilStopped(limits, job, sink.failed);
  if (outcome.kind === "ended") return jobCompleted(limits, outcome.value, sink);
  const root = host.control.jobPid;
  await host.end({ kind: "job", root, otherRoots: host.otherRoots(null) });
  await withinTime(job, DRAIN_MS);
  return stopped(outcome.stop, sink);
}

function jobCompleted(limits: RunLimits, end: JobEnd, sink: OutputSink): Completed | null {
  if (end.kind === "not-started") return null;
  if (end.kind === "exited") return sink.completed(end.code, false);
  throw noFolder(limits);
}

async function runByExec(
  host: CommandHost,
  command: Command,
  sink: OutputSink,
): Promise<Completed> {
  const { session, older } = await host.start(command, command.stdin !== undefined);
  const read = readOutput(session, sink);
  const fed = feed(session, command);
  const outcome = await untilStopped(command, read, Promise.race([sink.failed, fed.failed]));
  if (outcome.kind === "stopped") {
    const root = await session.pid();
    if (root !== null)
      await host.end({
        kind: "tree",
        uid: command.uid,
        root,
        older,
        otherRoots: host.otherRoots(root),
      });
    await withinTime(read, DRAIN_MS);
    session.abandon();
    return stopped(outcome.stop, sink);
  }
  await host.assertAlive();
  const code = await session.exitCode(command, () => new TextDecoder().decode(sink.stdout.bytes()));
  if (code === 137) await host.assertAlive();
  return sink.completed(code, false);
}

function stopped(stop: Stop, sink: OutputSink): Completed {
  if (stop.kind === "failed") throw stop.error;
  return sink.completed(137, true);
}

async function readOutput(session: ExecSession, sink: OutputSink): Promise<void> {
  for await (const { stream, chunk } of session.frames()) sink.add(stream, chunk);
}

/** Sends stdin as the command takes it. A source that throws fails the command, never half-feeds it. */
function feed(session: ExecSession, { stdin }: Command): { failed: Promise<never> } {
  const failed = new Promise<never>((_, reject) => {
    if (stdin === undefined) return;
    const sending = async (): Promise<void> => {
      for await (const chunk of stdin) if (!(await session.write(chunk))) return;
      session.closeStdin();
    };
    sending().catch(reject);
  });
  failed.catch(() => undefined);
  return { failed };
}

type Outcome<Value> =
  | { readonly kind: "ended"; readonly value: Value }
  | { readonly kind: "stopped"; readonly stop: Stop };

/** Waits for the command's own end, its deadline, the caller's abort or a failure on our side. */
async function untilStopped<Value>(
  { timeoutMs, signal }: RunLimits,
  running: Promise<Value>,
  failed: Promise<never>,
): Promise<Outcome<Value>> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  running.catch(() => undefined);
  const stop = new Promise<Stop>((resolve) => {
    if (timeoutMs !== undefined)
      timer = setTimeout(() => {
        resolve({ kind: "deadline" });
      }, timerMs(timeoutMs));
    onAbort = () => {
      resolve({ kind: "failed", error: signal?.reason });
    };
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted === true) onAbort();
    failed.catch((error: unknown) => {
      resolve({ kind: "failed", error });
    });
  });
  try {
    return await Promise.race([
      running.then((value): Outcome<Value> => ({ kind: "ended", value })),
      stop.then((reason): Outcome<Value> => ({ kind: "stopped", stop: reason })),
    ]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
  }
}

/** Waits for the rest of a stream that was ended, but not for ever: its processes are proven gone. */
async function withinTime(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  // How the stream of a killed command ends does not matter; its exit is known.
  await Promise.race([promise.catch(() => undefined), late]);
  clearTimeout(timer);
}

export function noFolder({ cwd }: Pick<Command, "cwd">): SandboxError {
  return new SandboxError("not-found", `no folder ${JSON.stringify(cwd)} to run in`);
}
