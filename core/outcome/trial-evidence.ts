import type { AgentError, Limit, Phase, Rewards, VerifierError } from "../model/outcome.ts";
import type { SandboxFailure } from "../ports/sandbox.ts";

/** How the agent's phase ended, with the type that it got where it ended. */
export type AgentEnd =
  | { readonly kind: "not-started" }
  | { readonly kind: "completed" }
  /** A limit of the task or the user stopped the agent; its work is graded all the same. */
  | { readonly kind: "limit"; readonly limit: Limit; readonly error: AgentError | null }
  /** `exitCode` of the agent's process, where it exited by itself. */
  | { readonly kind: "error"; readonly error: AgentError; readonly exitCode: number | null };

export type VerifierEvidence =
  | { readonly kind: "not-run" }
  | { readonly kind: "rewards"; readonly rewards: Rewards }
  | { readonly kind: "error"; readonly error: VerifierError };

/** What stopped a trial from outside of its agent and its verifier. */
export type TrialStop =
  | { readonly kind: "sandbox"; readonly failure: SandboxFailure; readonly message: string }
  /** The person stopped the run. */
  | { readonly kind: "interrupted" }
  /** The command's pot refused to pay for more. */
  | { readonly kind: "budget"; readonly message: string }
  /** More was used than was reserved for it, in this trial or another one: the whole run stops. */
  | { readonly kind: "anomaly"; readonly message: string }
  /**
   * The provider or the network failed, and the agent ended on it: what was graded is no work of the
   * agent's, whatever its reward (issue 4).
   */
  | { readonly kind: "models"; readonly error: AgentError }
  /** Never started, or cut off: trials before it failed for a reason that it would share. */
  | { readonly kind: "circuit-open"; readonly message: string }
  /** The machine slept while the trial ran, so its limits measured nothing (attack 18). */
  | { readonly kind: "host-suspended" };

/** All that an outcome is decided from. Each part was typed where it arose; none is read from text. */
export interface TrialEvidence {
  readonly agent: AgentEnd;
  readonly verifier: VerifierEvidence;
  readonly stop: TrialStop | null;
  /** The phase in which the trial ended, or the failing one. */
  readonly phase: Phase | null;
  /** The agent's final workspace lies in `evidence/`, so that a verifier alone can run again. */
  readonly workspaceSaved: boolean;
  /**
   * How often the verifier has failed after this agent's work on the trial, this attempt included: on one
   * saved workspace, or on those of the attempts that were thrown away for it.
   */
  readonly verifierFailures: number;
  /** Whether the same verifier gives a verdict on nop's workspace; null when nobody tried. */
  readonly verifierWorksOnNop: boolean | null;
}
