import { refusalOf } from "../../aws/aws-error.ts";
import { BenchError, messageOf } from "../../core/errors.ts";
import type { CloudAccount } from "./cloud-account.ts";
import { endTasks } from "./end-tasks.ts";
import type { Sweep } from "./sweep.ts";

/** What is done while a sweep goes on. */
export interface SweepWatch {
  readonly run: string;
  /** The user's stop. */
  readonly signal: AbortSignal;
  /** Brings what has ended; called now and then, and once more at the end. */
  readonly onLook: () => Promise<void>;
  /** The user stopped it; `running` tasks are left, as the account says. */
  readonly onStopped: (running: number) => void;
}

/**
 * Watches a sweep to its end. No sweep goes on unwatched: when a look fails, or the user stops it, it and
 * its tasks are stopped first. Throws `BenchError` that names the run and the command that brings its
 * results, and says when something of it may still run, and cost.
 */
export async function overseeSweep(
  account: CloudAccount,
  sweep: Sweep,
  watch: SweepWatch,
): Promise<void> {
  try {
    await sweep.ended(watch.signal, watch.onLook);
  } catch (error) {
    const running = await haltSweep(account, sweep, watch.run).catch((failure: unknown) => {
      throw stillRunning(sweep, watch, [error, failure]);
    });
    if (!watch.signal.aborted) throw await stopped(sweep, watch, { error, running });
    watch.onStopped(running);
  }
  try {
    await watch.onLook();
  } catch (error) {
    throw withRun(error, `; run ${watch.run} has ended in the account`, syncHint(watch.run));
  }
}

/** Stops a sweep, then its tasks, those also when the sweep itself cannot be stopped. */
async function haltSweep(account: CloudAccount, sweep: Sweep, run: string): Promise<number> {
  try {
    await sweep.stop();
  } catch (error) {
    const running = await endTasks(account, run);
    const found = `${messageOf(error)}; ${running} of its tasks run`;
    throw new BenchError("unavailable", found, { next: syncHint(run), cause: error });
  }
  return await endTasks(account, run);
}

/** The error of a sweep that was stopped because of another one. */
async function stopped(
  sweep: Sweep,
  watch: SweepWatch,
  { error, running }: { readonly error: unknown; readonly running: number },
): Promise<BenchError> {
  if (running > 0) return stillRunning(sweep, watch, [error, `${running} tasks have not ended`]);
  const what = `; run ${watch.run} was stopped, and nothing of it runs`;
  try {
    // What has ended is paid for: the same command must find it here.
    await watch.onLook();
  } catch (failure) {
    const cause = new AggregateError([error, failure]);
    return withRun(error, what, syncHint(watch.run), cause);
  }
  return withRun(error, what, "the same command goes on with what has not ended");
}

function stillRunning(sweep: Sweep, { run }: SweepWatch, errors: readonly unknown[]): BenchError {
  const [first, second] = errors;
  const why = `; run ${run} may still run, and cost: it was not stopped: ${messageOf(second)}`;
  const next = `\`aws stepfunctions stop-execution --execution-arn ${sweep.arn}\` stops it, \`bench sync ${run}\` brings its results`;
  return withRun(first, why, next, new AggregateError(errors));
}

function withRun(error: unknown, what: string, next: string, cause: unknown = error): BenchError {
  const kind =
    error instanceof BenchError ? error.kind : refusalOf(error) === null ? "bug" : "unavailable";
  const isAbort = error instanceof Error && error.name === "AbortError";
  const message = isAbort ? "stopped by its user" : messageOf(error);
  return new BenchError(isAbort ? "interrupted" : kind, `${message}${what}`, { next, cause });
}

function syncHint(run: string): string {
  return `\`bench sync ${run}\` brings what has ended; then the same command goes on with the rest`;
}
