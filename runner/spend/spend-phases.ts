import { BenchError, messageOf } from "../../core/errors.ts";
import type { ModelUse } from "../../core/ports/model-access.ts";
import type { AgentError } from "../../core/model/outcome.ts";
import type { AgentEnd } from "../../core/outcome/trial-evidence.ts";
import { AGENT_NODE, type AgentReport } from "../agents/agent.ts";
import type { AttemptState } from "../attempt-state.ts";
import type { SetUp } from "../start-sandbox.ts";
import { BudgetStop } from "./budget-stop.ts";
import { startSandboxMeter } from "./sandbox-meter.ts";

/** How long an agent may go on after its models were taken away: most end by themselves at once. */
const GRACE_MS = 20_000;
const WATCH_MS = 1_000;

/** From here on the sandbox's time is paid for. Throws `BudgetStop` when the pot has none. */
export async function payForSandbox(state: AttemptState): Promise<void> {
  const { deps, signal } = state;
  const spend = deps.spend ?? null;
  if (spend === null) return;
  const { account } = spend;
  const onRefused = (stop: BudgetStop): void => {
    state.models?.stop(stop.message);
    state.budget.abort(stop);
  };
  state.meter = await startSandboxMeter({ account, clock: deps.clock, signal, onRefused });
}

/** Opens the models for an agent that calls any. */
export async function openTrialModels(state: AttemptState, setUp: SetUp): Promise<void> {
  const { spec, deps, signal } = state;
  const models = deps.spend?.models ?? null;
  const { models: needs, mounts } = deps.agent;
  if (models === null || needs === null) return;
  state.models = await models.open({
    spec,
    sandbox: setUp.sandbox,
    agentUid: setUp.agentUid,
    nodePath: mounts.some(({ path }) => AGENT_NODE.startsWith(`${path}/`)) ? AGENT_NODE : null,
    needs,
    folder: deps.folder,
    signal,
  });
}

/** Ends an agent that goes on although nothing is served any more. */
export function watchModels({ models, deps }: AttemptState): {
  readonly signal: AbortSignal;
  readonly end: () => void;
} {
  const over = new AbortController();
  if (models === null) return { signal: over.signal, end: () => undefined };
  let sinceMs: number | null = null;
  const timer = setInterval(() => {
    if (models.stopped() === null) return;
    sinceMs ??= deps.clock.monotonicMs();
    if (deps.clock.monotonicMs() - sinceMs >= GRACE_MS) over.abort();
  }, WATCH_MS);
  return { signal: over.signal, end: () => clearInterval(timer) };
}

/**
 * Takes the models away, once the agent is proven gone, and draws from their record what only it can
 * tell: that the pot, a limit or the provider ended the agent's work (attack 7, 8). Idempotent.
 */
export async function closeTrialModels(state: AttemptState): Promise<void> {
  const { models } = state;
  if (models === null || state.modelUse !== null) return;
  const heldMs = models.heldMs();
  state.modelUse = await models.close();
  judge(state, state.modelUse, heldMs);
}

function judge(state: AttemptState, { end, calls }: ModelUse, heldMs: number): void {
  const { report, spec } = state;
  switch (end.kind) {
    case "budget":
    case "anomaly":
    case "breaker":
      state.budget.abort(new BudgetStop(end.message, end.kind));
      return;
    case "failed":
      state.stop ??= { kind: "models", error: end.error };
      state.stoppedIn ??= "agent";
      return;
    case "trial-limit":
      if (report !== null) state.report = { ...report, end: COST_LIMIT };
      return;
    case "rejected":
      if (report !== null) state.report = { ...report, end: rejectedEnd(report.end, end.error) };
      break;
    case "sound":
      break;
  }
  if (heldMs > spec.agentTimeoutSec * 1000) {
    const message = `its requests were held for ${String(Math.round(heldMs / 1000))} s, longer than its agent may work`;
    state.stop ??= { kind: "models", error: { category: "infra_failure", message } };
  } else if (calls.main_requests === 0 && report !== null && report.toolCalls === 0)
    state.stop ??= { kind: "models", error: errorOfIdle(report) };
}

/** Agents tell a refused request as an error of the protocol's, as the end of their turn, or not at all. */
function rejectedEnd(end: AgentEnd, error: AgentError): AgentEnd {
  const isItsWord =
    end.kind === "completed" || (end.kind === "error" && end.error.category === "acp_error");
  return isItsWord ? { kind: "error", error, exitCode: null } : end;
}

/** Why an agent did nothing: its own error, where it told one (spec 2.3). */
function errorOfIdle({ end }: AgentReport): AgentError {
  if (end.kind === "error") return end.error;
  const message =
    "suspected provider API error: the agent asked its model nothing and called no tool";
  return { category: "suspected_api_error", message };
}

const COST_LIMIT = { kind: "limit", limit: "cost", error: null } as const;

/** The pot is told what the trial used, once its sandbox is proven gone (attack 17). */
export async function settleTrial(state: AttemptState, isGone: boolean): Promise<void> {
  const { deps, meter, modelUse, notes } = state;
  const account = deps.spend?.account ?? null;
  if (account === null) return;
  try {
    await meter?.end();
    // What lives on may spend on: its money comes back when its end is proven.
    if (!isGone) return;
    const complete = state.stop === null && state.report !== null;
    const status = modelUse?.calls.cost_status;
    const unpriced = status === "unpriced" || status === "subscription";
    await account.close({ complete, unpriced });
  } catch (thrown) {
    // The next trial's admission fails with the same error, and stops the run.
    if (!(thrown instanceof BenchError)) throw thrown;
    notes.push(`what it spent stays reserved: ${messageOf(thrown)}`);
  }
}
