import type { VerifierError, VerifierErrorCategory } from "../model/outcome.ts";
import { formatPythonFloat } from "./python-float.ts";

/**
 * The contract's error texts (spec 2.3 to 2.6), each made from typed values. Readers of old result
 * files match on some of these words, so they change only with the contract.
 */

/** The wall clock of one prompt ran out. */
export function agentWallClockText(budgetSec: number): string {
  return `Agent prompt exceeded wall-clock budget ${budgetSec}s`;
}

/** The agent neither spoke nor called a tool for too long. */
export function agentIdleText(idleSec: number, hasPendingTool = false): string {
  const what = hasPendingTool ? "but a tool call that never ended" : "and no tool call running";
  return `Agent idle for ${idleSec}s with no output ${what}`;
}

/** A trial that never started because others before it failed alike. */
export function circuitOpenText(fingerprint: string, failures: number): string {
  return `skipped: api-error circuit breaker open ([${fingerprint}] x${failures} consecutive)`;
}

/** The verifier's own time limit passed; it has no `verifier crashed` in front of it. */
export function verifierTimedOut(budgetSec: number): VerifierError {
  return {
    category: "verifier_timeout",
    message: `verifier timed out after ${formatPythonFloat(budgetSec)}s`,
  };
}

/** No verdict, for any reason but time. */
export function verifierCrashed(category: VerifierErrorCategory, message: string): VerifierError {
  return { category, message: `verifier crashed: ${message}` };
}

/** The verifier ended without writing either reward file. */
export function noRewardText(exitCode: number, textPath: string, jsonPath: string): string {
  return exitCode === 0
    ? `No reward file found at ${textPath} or ${jsonPath}`
    : `verifier exited with rc=${exitCode}; no reward file found at ${textPath} or ${jsonPath}`;
}

/** What follows the message when the verifier's output shows that its own set-up failed. */
export const DEPENDENCY_INSTALL_TEXT =
  "the verifier's output shows a dependency install failure, so nothing was tested";
