import type { VerifierErrorCategory } from "../../core/model/outcome.ts";
import { MISSING_TOOL_NOTE } from "../../core/outcome/doubts.ts";
import {
  DEPENDENCY_INSTALL_TEXT,
  noRewardText,
  verifierCrashed,
} from "../../core/outcome/error-text.ts";
import { type ParsedRewards, parseRewards } from "../../core/outcome/parse-rewards.ts";
import type { VerifierEvidence } from "../../core/outcome/trial-evidence.ts";
import { showsFailedInstall, showsMissingTool } from "./output-markers.ts";
import type { Verdict } from "./read-verdict.ts";
import type { TestRun } from "./run-tests.ts";
import type { VerifyRequest } from "./verify-request.ts";

export interface JudgedVerdict {
  readonly evidence: VerifierEvidence;
  readonly warnings: readonly string[];
  /** Files of the attempt's folder to write: path and content. */
  readonly files: readonly (readonly [string, Uint8Array | string])[];
}

/**
 * A verdict out of what the verifier wrote (spec 6.6 steps 5 and 6). A valid reward stands whatever
 * the exit code, with a warning; a missing or malformed one is an error and never a zero.
 */
export function judgeVerdict(
  verdict: Verdict,
  request: VerifyRequest,
  { run, output }: { run: TestRun; output: string },
): JudgedVerdict {
  const textPath = `${request.shownDir}/reward.txt`;
  const jsonPath = `${request.shownDir}/reward.json`;
  const parsed = parseRewards(
    { text: verdict.text, json: verdict.json, textPath, jsonPath },
    {
      range: request.rewardRange,
      lenient: request.lenientRewards,
      aggregatePolicy: request.aggregatePolicy,
    },
  );
  if ("refused" in parsed) {
    const isMissing = parsed.refused === "missing";
    const message = isMissing ? noRewardText(run.exitCode, textPath, jsonPath) : parsed.message;
    const isInstall = isMissing && showsFailedInstall(output);
    const category: VerifierErrorCategory = isInstall ? "verifier_dep_install" : "verifier_failure";
    const error = verifierCrashed(
      category,
      isInstall ? `${message}; ${DEPENDENCY_INSTALL_TEXT}` : message,
    );
    return { evidence: { kind: "error", error }, warnings: verdict.warnings, files: [] };
  }
  return {
    evidence: { kind: "rewards", rewards: parsed.ok },
    warnings: [...verdict.warnings, ...parsed.warnings, ...doubts(parsed.ok.reward, run, output)],
    files: computedFiles(parsed, verdict),
  };
}

function doubts(reward: number, run: TestRun, output: string): readonly string[] {
  return [
    ...(run.exitCode === 0
      ? []
      : [`the verifier exited with rc=${run.exitCode}; the reward that it wrote stands`]),
    // failures C-19: a script that goes on after its own set-up failed writes a zero for nothing.
    ...(reward === 0 && showsMissingTool(output) ? [MISSING_TOOL_NOTE] : []),
  ];
}

/** A computed reward is written back as the contract has it; the verifier's own bytes stay beside it. */
function computedFiles(
  parsed: Extract<ParsedRewards, { ok: unknown }>,
  verdict: Verdict,
): JudgedVerdict["files"] {
  if (!parsed.computed || verdict.json.kind !== "bytes") return [];
  return [
    ["verifier/reward-original.json", verdict.json.bytes],
    ["verifier/reward.json", `${JSON.stringify(parsed.ok, null, 2)}\n`],
  ];
}
