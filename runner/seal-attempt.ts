import type { Diagnostics } from "../core/model/diagnostics.ts";
import type { TrialRecord } from "../core/model/record.ts";
import { contextDigestOf } from "../core/plan/trial-version.ts";
import type { Isolation, PhaseSpan, Resources, Verification } from "../core/model/trial.ts";
import type { AttemptFolder } from "../core/ports/attempt-folder.ts";
import { classifySandboxFailure } from "../core/outcome/classify-sandbox-failure.ts";
import { messageOf } from "../core/errors.ts";
import { AFTER_AGENT_FAILURES, decideOutcome } from "../core/outcome/decide-outcome.ts";
import type { AgentEnd, TrialEvidence, TrialStop } from "../core/outcome/trial-evidence.ts";
import { skillsOf } from "../core/plan/task-skills.ts";
import { describeScenes } from "../core/results/describe-scenes.ts";
import { renderSideFiles } from "../core/results/render-side-files.ts";
import {
  renderTrialResult,
  trackNoUsage,
  trackProxiedUsage,
  type TrialResultExtras,
} from "../core/results/render-trial-result.ts";
import { summarizeTrajectory } from "../core/results/summarize-trajectory.ts";
import { timingOf } from "../core/results/timing.ts";
import { NO_USAGE } from "./agents/agent.ts";
import { type AttemptState, sceneFactsOf } from "./attempt-state.ts";

/** From how much sleep on a trial's limits measured nothing (attack 18). */
const MAX_SLEPT_MS = 30_000;

/**
 * Decides the outcome from what the phases left, writes every file that follows from it, then
 * result.json and the seal. Called when the sandbox is proven gone (attack 17).
 */
export async function sealAttempt(state: AttemptState): Promise<TrialRecord> {
  const { spec, deps, trajectory } = state;
  await trajectory.close();
  await compareWithNop(state);
  const spans = state.phases.end();
  const record = recordOf(state, spans);
  const utcOffsetMinutes = -state.startedAt.getTimezoneOffset();
  const sideFiles = renderSideFiles({
    record,
    instruction: spec.task.prompt,
    prompts: state.report?.prompts ?? [],
    events: trajectory.events,
    rolloutDir: deps.rolloutDir,
    utcOffsetMinutes,
  });
  await writeAll(deps.folder, sideFiles);
  await deps.folder.seal(renderTrialResult(record, extrasOf(state, utcOffsetMinutes)));
  return record;
}

/** All at once, since each waits for the disk; returns or throws when none is being written any more. */
async function writeAll(folder: AttemptFolder, files: ReadonlyMap<string, string>): Promise<void> {
  const written = await Promise.allSettled(
    [...files].map(async ([path, text]) => await folder.write(path, text)),
  );
  for (const each of written) if (each.status === "rejected") throw each.reason;
}

/** A verifier that failed more than once: is it the task's fault, or what the agent left (attack 32)? */
async function compareWithNop(state: AttemptState): Promise<void> {
  const { spec, deps, verifier, verifierFailures } = state;
  const failures = (spec.earlierVerifierFailures ?? 0) + verifierFailures;
  if (verifier.kind !== "error" || failures < AFTER_AGENT_FAILURES || spec.agent === "nop") return;
  try {
    state.worksOnNop = (await deps.askNop?.(spec)) ?? null;
  } catch (thrown) {
    // Another job's folder that cannot be read is told, and takes nothing from this trial.
    state.notes.push(`no nop control could be read: ${messageOf(thrown)}`);
  }
}

function recordOf(state: AttemptState, spans: readonly PhaseSpan[]): TrialRecord {
  const { spec, report, trajectory, verifier } = state;
  const evidence = evidenceOf(state);
  const events = trajectory.events;
  return {
    taskName: spec.task.name,
    rolloutName: spec.rolloutName,
    taskDigest: spec.task.digest,
    contextDigest: contextDigestOf(spec.task),
    settingsDigest: spec.settingsDigest,
    attempt: spec.attempt,
    agent: spec.agent,
    agentName: report?.agentName ?? "",
    model: spec.model,
    outcome: decideOutcome(evidence),
    rewards: verifier.kind === "rewards" ? verifier.rewards : null,
    error: errorOf(evidence),
    verifierError: verifier.kind === "error" ? verifier.error : null,
    toolCalls: report?.toolCalls ?? 0,
    skillInvocations: report?.skillInvocations ?? 0,
    prompts: report?.prompts.length ?? 0,
    trajectory: {
      steps: events.length,
      toolCallSteps: events.filter((event) => event.type === "tool_call").length,
    },
    usage: state.modelUse?.usage ?? report?.usage ?? NO_USAGE,
    startedAt: state.startedAt.toISOString(),
    finishedAt: state.deps.clock.now().toISOString(),
    timing: timingOf(spans, spec.agent),
    spans: [...spans],
    resources: resourcesOf(state),
    isolation: isolationOf(state),
    verification: {
      verify_only_from: spec.verifyOnlyFrom,
      refused: state.verifyRefused,
      failures: evidence.verifierFailures,
      works_on_nop: evidence.verifierWorksOnNop,
      ...agentEndOf(evidence.agent),
    },
    workspaceSaved: state.workspaceSaved,
    firstFailedTest: state.firstFailedTest,
  };
}

function evidenceOf(state: AttemptState): TrialEvidence {
  const slept = state.deps.clock.sleptMs() - state.sleptMs > MAX_SLEPT_MS;
  return {
    agent: state.report?.end ?? { kind: "not-started" },
    verifier: state.verifier,
    stop: slept ? { kind: "host-suspended" } : state.stop,
    phase: state.stoppedIn,
    workspaceSaved: state.workspaceSaved,
    verifierFailures: (state.spec.earlierVerifierFailures ?? 0) + state.verifierFailures,
    verifierWorksOnNop: state.worksOnNop,
  };
}

/** The agent side's error: its own, or what kept it from working. */
function errorOf(evidence: TrialEvidence): TrialRecord["error"] {
  if (evidence.stop?.kind === "models") return evidence.stop.error;
  const own = agentErrorOf(evidence.agent);
  if (own !== null || evidence.stop === null) return own;
  const outcome = decideOutcome({ ...evidence, verifier: { kind: "not-run" } });
  if (outcome.kind === "scored") return null;
  return { category: categoryOf(evidence.stop), message: outcome.detail };
}

function agentEndOf(end: AgentEnd): Pick<Verification, "agent_end"> {
  if (end.kind === "not-started") return {};
  const limit = end.kind === "limit" ? end.limit : null;
  const exit_code = end.kind === "error" ? end.exitCode : null;
  return { agent_end: { limit, exit_code, has_error: agentErrorOf(end) !== null } };
}

function agentErrorOf(end: AgentEnd): TrialRecord["error"] {
  return end.kind === "limit" || end.kind === "error" ? end.error : null;
}

/** The contract's words for a stop; it knows none of its own for an interruption or a budget. */
function categoryOf(stop: TrialStop): NonNullable<TrialRecord["error"]>["category"] {
  return stop.kind === "sandbox" ? classifySandboxFailure(stop.failure).category : "other";
}

function resourcesOf({ spec, stats }: AttemptState): Resources {
  const { cpus, memoryMb, storageMb } = spec.task.config.sandbox;
  return {
    cpus,
    memory_mb: memoryMb,
    storage_mb: storageMb,
    peak_memory_bytes: stats?.peakMemoryBytes ?? null,
    oom_kills: stats?.oomKills ?? null,
    cpu_seconds: stats?.cpuSeconds ?? null,
    disk_bytes: stats?.diskBytes ?? null,
  };
}

function isolationOf(state: AttemptState): Isolation | null {
  const { sandbox, spec, deps, networks, notes, hardening } = state;
  if (sandbox === null) return null;
  const { caps } = deps.backend;
  return {
    backend: spec.environment,
    image: sandbox.isolation.image,
    image_digest: sandbox.isolation.imageDigest,
    platform: caps.platform,
    uid_separation: caps.uidSeparation,
    no_new_privs: caps.noNewPrivs,
    network_agent: networks.agent,
    network_verifier: networks.verifier,
    seccomp: sandbox.isolation.seccomp,
    notes: [...sandbox.isolation.notes, ...notes],
    hardening,
  };
}

/** What kept the sandbox from starting (spec 1.6); null when it did, or when something else stopped. */
function startupInfoOf({ spec, stop, sandbox }: AttemptState): StartupInfo {
  if (stop?.kind !== "sandbox" || categoryOf(stop) !== "sandbox_setup") return null;
  return {
    reason: "sandbox_startup_failed",
    sandbox_id: sandbox?.id ?? null,
    sandbox_state: null,
    attempts: 1,
    build_timeout_sec: spec.task.config.sandbox.buildTimeoutSec,
    raw_message: stop.message,
  };
}

type StartupInfo = Diagnostics["sandbox_startup_info"];

/** What the provider's failures were (spec 1.6); null when they did not end the trial. */
function apiErrorInfoOf({ modelUse }: AttemptState): Diagnostics["api_error_info"] {
  return modelUse?.end.kind === "failed" ? modelUse.end.info : null;
}

/** How the agent fell silent or went away, unless the models' record gave its end another cause. */
function agentInfosOf({ report }: AttemptState): Partial<Diagnostics> {
  if (report?.diagnostics === undefined) return {};
  const { idle_timeout_info, transport_error_info } = report.diagnostics;
  const category = agentErrorOf(report.end)?.category;
  return {
    idle_timeout_info: category === "idle_timeout" ? idle_timeout_info : null,
    transport_error_info: category === "pipe_closed" ? transport_error_info : null,
  };
}

/** What was going on when the clock ended the agent, as its trajectory tells; null when it did not. */
function agentTimeoutInfoOf(state: AttemptState): Diagnostics["agent_timeout_info"] {
  const { spec, report, trajectory } = state;
  if (report?.end.kind !== "limit" || report.end.limit !== "wall-clock") return null;
  const told = trajectory.events.findLast((event) => event.type === "agent_timeout");
  return {
    reason: "wall_clock_timeout",
    timeout_sec: spec.agentTimeoutSec,
    n_tool_calls: report.toolCalls,
    pending_tool_call_ids: told?.pending_tool_call_ids ?? [],
    terminal_event_recorded: told !== undefined,
    terminal_trajectory_complete: told?.terminal_trajectory_complete ?? false,
  };
}

function extrasOf(state: AttemptState, utcOffsetMinutes: number): TrialResultExtras {
  const { spec, trajectory, sandbox } = state;
  return {
    trajectorySummary: summarizeTrajectory(trajectory.events, {
      partial_trajectory: state.stop !== null,
      trajectory_source: "acp",
    }),
    usageTracking:
      state.modelUse === null
        ? trackNoUsage(spec.environment)
        : trackProxiedUsage(spec.environment),
    modelCalls: state.modelUse?.calls ?? null,
    skills: skillsOf(spec.task, state.deps.settings).fields,
    scenes: describeScenes(sceneFactsOf(state)),
    ...(state.report?.loop == null ? {} : { loop: state.report.loop }),
    source: spec.task.source,
    sandboxId: sandbox?.id ?? null,
    utcOffsetMinutes,
    diagnostics: {
      verifier_timeout_info: state.verifierTimeout,
      sandbox_startup_info: startupInfoOf(state),
      api_error_info: apiErrorInfoOf(state),
      agent_timeout_info: agentTimeoutInfoOf(state),
      ...agentInfosOf(state),
    },
  };
}
