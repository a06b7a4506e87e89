import type { TrialRecord } from "../core/model/record.ts";
import type { AttemptSpec } from "../core/model/trial.ts";
import type { TrialStop } from "../core/outcome/trial-evidence.ts";
import { timerMs } from "../core/model/timer-limit.ts";
import { SandboxError } from "../core/ports/sandbox.ts";
import { workOnTask } from "./work-on-task.ts";
import { type AttemptState, LEASE_MS, openAttempt, type TrialDeps } from "./attempt-state.ts";
import { BenchError, messageOf } from "../core/errors.ts";
import { BudgetStop } from "./spend/budget-stop.ts";
import { closeTrialModels, settleTrial } from "./spend/spend-phases.ts";
import { sealAttempt } from "./seal-attempt.ts";
import { setUpSandbox, startSandbox } from "./start-sandbox.ts";
import { collectLogs } from "./verifier/collect-logs.ts";
import { verifyWork } from "./verify-work.ts";

export type { TrialDeps } from "./attempt-state.ts";

/** What a trial may take beside its agent's and its verifier's own limits, in seconds (spec 2.5). */
const OVERHEAD_SEC = 1800;
/** Bound of a teardown; what hangs longer is left to `bench sandbox prune`. */
const END_LIMIT_MS = 120_000;

/**
 * One attempt of a trial, phase by phase (design 5, attack 17): sandbox, agent, proof that the agent
 * is gone, verifier, logs, sandbox proven gone, seal. Whatever goes wrong in between is evidence: the
 * attempt always ends sealed, except when its own folder cannot be written, which is thrown.
 */
export async function runTrial(spec: AttemptSpec, deps: TrialDeps): Promise<TrialRecord> {
  const deadline = new AbortController();
  const state = await openAttempt(spec, deps, AbortSignal.any([deps.signal, deadline.signal]));
  const disarm = armDeadline(state, deadline);
  const lease = setInterval(() => void renewLease(state), LEASE_MS / 10);
  try {
    await work(state).catch((thrown: unknown) => noteStop(state, thrown));
    await collect(state);
  } finally {
    // Also when the results' disk is full: whatever else is lost, no sandbox stays.
    disarm();
    clearInterval(lease);
    try {
      await closeTrialModels(state);
    } finally {
      await settleTrial(state, await end(state));
    }
  }
  return await sealAttempt(state);
}

/** Seals an attempt that never started, so that the tree says why. */
export async function sealUnstarted(
  spec: AttemptSpec,
  deps: TrialDeps,
  stop: TrialStop,
): Promise<TrialRecord> {
  const state = await openAttempt(spec, deps, deps.signal);
  state.stop = stop;
  return await sealAttempt(state);
}

async function work(state: AttemptState): Promise<void> {
  await startSandbox(state);
  const ready = await setUpSandbox(state);
  const finished = await workOnTask(state, ready);
  await verifyWork(state, finished);
}

/** The type of what stopped the trial, from where it arose. */
function noteStop(state: AttemptState, thrown: unknown): void {
  // A full or vanished disk under the results is the run's problem, not this trial's.
  if (thrown instanceof BenchError && thrown.kind === "unavailable") throw thrown;
  state.stoppedIn ??= state.phases.phase;
  if (state.deps.signal.aborted) state.stop = { kind: "interrupted" };
  else if (thrown instanceof BudgetStop || state.budget.signal.aborted)
    state.stop = budgetStopOf(state.budget.signal.reason ?? thrown).evidence;
  // Models that failed before void the trial whatever breaks after them.
  else state.stop ??= { kind: "sandbox", ...sandboxFailureOf(thrown) };
}

function budgetStopOf(reason: unknown): BudgetStop {
  return reason instanceof BudgetStop ? reason : new BudgetStop(messageOf(reason));
}

function sandboxFailureOf(thrown: unknown): { failure: SandboxError["failure"]; message: string } {
  if (thrown instanceof SandboxError) return { failure: thrown.failure, message: thrown.message };
  if (thrown instanceof BenchError) return { failure: "unsupported", message: thrown.message };
  return { failure: "lost", message: `unexpected error: ${messageOf(thrown)}` };
}

/** What the agent left in its log folders, and what the sandbox used, while it still is there. */
async function collect(state: AttemptState): Promise<void> {
  const { sandbox, deps, notes, entrypoint } = state;
  notes.push(...((await entrypoint?.end()) ?? []));
  if (sandbox === null || isGone(state)) return;
  state.phases.enter("collect");
  const signal = AbortSignal.timeout(END_LIMIT_MS);
  try {
    state.stats = await sandbox.stats();
    const ours = ["oracle", "script", deps.agent.name].map((name) => `${name}.txt`);
    const takenByRunner = new Set([...ours, "acp_trajectory.jsonl"]);
    notes.push(...(await collectLogs(sandbox, deps.folder, { takenByRunner, signal })));
  } catch (thrown) {
    if (thrown instanceof BenchError && thrown.kind === "unavailable") throw thrown;
    notes.push(`logs were not collected: ${messageOf(thrown)}`);
  }
}

function isGone({ stop }: AttemptState): boolean {
  return stop?.kind === "sandbox" && stop.failure === "lost";
}

/** Whether nothing of the attempt lives any more. */
async function end(state: AttemptState): Promise<boolean> {
  if (state.sandbox === null) return true;
  state.phases.enter("end");
  const { sandbox, notes } = state;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new SandboxError("lost", "it did not end within 120 s")),
      END_LIMIT_MS,
    );
  });
  try {
    await Promise.race([sandbox.destroy(), limit]);
    return true;
  } catch (thrown) {
    const message = `sandbox ${sandbox.id} was not removed: ${messageOf(thrown)}; \`bench sandbox prune\` removes it`;
    notes.push(message);
    state.deps.onEvent({ type: "warning", message });
    return false;
  } finally {
    clearTimeout(timer);
  }
}

async function renewLease(state: AttemptState): Promise<void> {
  try {
    await state.sandbox?.renew(LEASE_MS);
  } catch (thrown) {
    // The next call on a lost sandbox fails with its type; a missed renewal alone costs nothing.
    state.notes.push(`a lease was not renewed: ${messageOf(thrown)}`);
  }
}

/** The hard deadline stands still while requests are held back, as the agent's own limits do (attack 7). */
function armDeadline(state: AttemptState, deadline: AbortController): () => void {
  let allowedMs = 0;
  const look = (): void => {
    const heldMs = state.models?.heldMs() ?? 0;
    if (heldMs <= allowedMs) {
      deadline.abort(overDeadline(state.spec));
      return;
    }
    timer = setTimeout(look, timerMs(heldMs - allowedMs));
    allowedMs = heldMs;
  };
  let timer = setTimeout(look, deadlineMs(state.spec));
  return () => clearTimeout(timer);
}

function deadlineMs(spec: AttemptSpec): number {
  const { buildTimeoutSec } = spec.task.config.sandbox;
  const { agentTimeoutSec, verifierTimeoutSec } = spec;
  const limitSec = agentTimeoutSec + 2 * verifierTimeoutSec + buildTimeoutSec + OVERHEAD_SEC;
  return timerMs(limitSec * 1000);
}

function overDeadline(spec: AttemptSpec): SandboxError {
  const limitSec = deadlineMs(spec) / 1000;
  return new SandboxError("lost", `the trial did not end within ${String(limitSec)} s`);
}
