import type { AggregatePolicy } from "../../core/model/task.ts";
import type { VerifierEvidence } from "../../core/outcome/trial-evidence.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { ProcessMark } from "../../core/ports/sandbox.ts";
import type { Baseline } from "./baseline.ts";
import type { HardeningEvidence } from "./harden-sandbox.ts";

/** Everything that a verification needs, resolved: no template, no path to look up. */
export interface VerifyRequest {
  readonly taskName: string;
  /** The task's text, as the agent got it. */
  readonly instruction: string;
  /** The task and its tests on this machine, absolute. */
  readonly taskDir: string;
  readonly testsDir: string;
  /** Where the tests go: `tests` for Harbor's layout, `verifier` for the native one. */
  readonly placement: "tests" | "verifier";
  /** The shell line of the task; `./test.sh` unless its verifier.md names another. */
  readonly command: string;
  /** The verifier's time limit, in milliseconds. */
  readonly timeoutMs: number;
  /** A user's name or uid of the task's; null for root. */
  readonly user: string | null;
  /** The task's `verifier.env`, expanded. */
  readonly env: Readonly<Record<string, string>>;
  /** The image's own environment. */
  readonly imageEnv: Readonly<Record<string, string>>;
  readonly rewardRange: readonly [number, number];
  readonly lenientRewards: boolean;
  readonly aggregatePolicy: AggregatePolicy | null;
  readonly cleanupConftests: boolean;
  readonly pytestPlugins: readonly string[];

  /** The workspace as `setupSandbox` resolved it. */
  readonly workdir: string;
  readonly agentUid: number;
  readonly agentHome: string;
  readonly agentWasRoot: boolean;
  readonly baseline: Baseline | null;
  /** The processes alive before the agent: whatever else runs after the verifier is its leftover. */
  readonly mark: ProcessMark;
  /** How messages name the attempt's `verifier/` folder. */
  readonly shownDir: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** `verifier_timeout_info` of result.json (spec 1.6). */
export interface VerifierTimeoutInfo {
  readonly timeout_budget_sec: number;
  readonly elapsed_sec: number;
  readonly task_name: string;
}

export interface VerifyReport {
  readonly evidence: VerifierEvidence;
  /** How often the tests gave no verdict: 2 when they were run twice for nothing. */
  readonly failures: number;
  /** Null when the tests were never run. */
  readonly exitCode: number | null;
  readonly timeout: VerifierTimeoutInfo | null;
  /** `<name> failed: <message>` of the first failing test of ctrf.json. */
  readonly firstFailedTest: string | null;
  /** Null when hardening itself failed. */
  readonly hardening: HardeningEvidence | null;
  readonly warnings: readonly string[];
}
