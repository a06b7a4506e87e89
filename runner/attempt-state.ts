import type { OnEvent } from "../core/events/run-event.ts";
import type { Phase } from "../core/model/outcome.ts";
import type { RunSettings } from "../core/model/settings.ts";
import type { AttemptSpec, Hardening } from "../core/model/trial.ts";
import type { TrialStop, VerifierEvidence } from "../core/outcome/trial-evidence.ts";
import type { SceneFacts } from "../core/results/describe-scenes.ts";
import type { AttemptFolder } from "../core/ports/attempt-folder.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { ModelUse, OpenModels } from "../core/ports/model-access.ts";
import type {
  PreparedImage,
  Sandbox,
  SandboxBackend,
  SandboxOwner,
  SandboxStats,
} from "../core/ports/sandbox.ts";
import type { Agent, AgentReport } from "./agents/agent.ts";
import { PhaseClock } from "./phase-clock.ts";
import type { SandboxMeter } from "./spend/sandbox-meter.ts";
import type { TrialSpend } from "./spend/trial-spend.ts";
import type { RunningEntrypoint } from "./setup/start-entrypoint.ts";
import type { PreparedImages } from "./prepared-images.ts";
import type { VerifierTimeoutInfo } from "./verifier/verify-request.ts";
import { Trajectory } from "./trajectory.ts";

/** What a trial touches of the world, all of it through ports. */
export interface TrialDeps {
  readonly backend: SandboxBackend;
  readonly images: PreparedImages;
  readonly agent: Agent;
  readonly folder: AttemptFolder;
  /** The attempt's folder as a reader finds it: the jobs folder as typed, the job, the rollout. */
  readonly rolloutDir: string;
  readonly clock: Clock;
  readonly ownerProcess: string;
  readonly settings: RunSettings;
  /**
   * Whether the attempt's verifier works on nop's workspace; null when no nop control tells. Absent
   * where the attempt runs out of reach of the jobs folder: then nobody asks.
   */
  readonly askNop?: (spec: AttemptSpec) => Promise<boolean | null>;
  readonly onEvent: OnEvent;
  /** The person's stop: the agent is stopped, what there is is kept, the sandbox removed. */
  readonly signal: AbortSignal;
  /** Null or absent for a run that spends nothing: controls without a cap. */
  readonly spend?: TrialSpend | null;
}

/** What is known of an attempt while it runs: filled phase by phase, read once to seal it. */
export interface AttemptState {
  readonly spec: AttemptSpec;
  readonly deps: TrialDeps;
  /** The person's stop, the trial's own hard deadline, or the pot's refusal. */
  readonly signal: AbortSignal;
  readonly startedAt: Date;
  readonly sleptMs: number;
  readonly phases: PhaseClock;
  /** Aborted with a `BudgetStop` when the pot refuses to pay for more. */
  readonly budget: AbortController;
  models: OpenModels | null;
  modelUse: ModelUse | null;
  meter: SandboxMeter | null;
  readonly trajectory: Trajectory;
  image: PreparedImage | null;
  sandbox: Sandbox | null;
  /** The image's ENTRYPOINT at work; null for an image without one. */
  entrypoint: RunningEntrypoint | null;
  report: AgentReport | null;
  verifier: VerifierEvidence;
  stop: TrialStop | null;
  stoppedIn: Phase | null;
  verifierTimeout: VerifierTimeoutInfo | null;
  firstFailedTest: string | null;
  hardening: Hardening | null;
  /** How often the verifier gave no verdict in this attempt. */
  verifierFailures: number;
  /** Whether the verifier works on nop's workspace, where that was asked. */
  worksOnNop: boolean | null;
  /** The saved work that was to be verified again is damaged or gone. */
  verifyRefused: boolean;
  workspaceSaved: boolean;
  stats: SandboxStats | null;
  networks: { agent: string; verifier: string };
  /** What a reader of the result should know and no other field says. */
  readonly notes: string[];
}

/** Files and clocks of an attempt that begins now. */
export async function openAttempt(
  spec: AttemptSpec,
  deps: TrialDeps,
  signal: AbortSignal,
): Promise<AttemptState> {
  const emit = (phase: Phase): void =>
    deps.onEvent({
      type: "phase-started",
      taskName: spec.task.name,
      rolloutName: spec.rolloutName,
      phase,
    });
  const budget = new AbortController();
  return {
    spec,
    deps,
    signal: AbortSignal.any([signal, budget.signal]),
    budget,
    models: null,
    modelUse: null,
    meter: null,
    startedAt: deps.clock.now(),
    sleptMs: deps.clock.sleptMs(),
    phases: new PhaseClock(deps.clock, emit),
    trajectory: await Trajectory.open(deps.folder),
    image: null,
    sandbox: null,
    entrypoint: null,
    report: null,
    verifier: { kind: "not-run" },
    stop: null,
    stoppedIn: null,
    verifierTimeout: null,
    firstFailedTest: null,
    hardening: null,
    verifierFailures: 0,
    worksOnNop: null,
    verifyRefused: false,
    workspaceSaved: false,
    stats: null,
    networks: { agent: "none", verifier: "none" },
    notes: [],
  };
}

/** Who is asked what: for config.json and result.json. */
export function sceneFactsOf({ spec, deps }: Pick<AttemptState, "spec" | "deps">): SceneFacts {
  return { spec, settings: deps.settings, isAsked: deps.agent.models !== null };
}

/** The lease that a sandbox of this attempt gets at first; `renewLease` keeps it alive. */
export const LEASE_MS = 10 * 60_000;

export function ownerOf(spec: AttemptSpec, deps: TrialDeps): SandboxOwner {
  return {
    runId: spec.runId,
    jobName: spec.jobName,
    rolloutName: spec.rolloutName,
    process: deps.ownerProcess,
    leaseMs: LEASE_MS,
  };
}
