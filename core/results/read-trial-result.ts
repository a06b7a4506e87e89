import type * as z from "zod";
import type { Outcome, Rewards } from "../model/outcome.ts";
import type { TrialRecord, Usage } from "../model/record.ts";
import { deriveOutcome, findRewards } from "./derive-outcome.ts";
import type { FoundRewards } from "./derive-outcome.ts";
import { describeValue, nestingDepth } from "./describe-value.ts";
import { parseLenientJson } from "./parse-lenient-json.ts";
import { firstFailedTest } from "./first-failed-test.ts";
import { ReadableResult, readErrorCategory, readVerifierCategory } from "./readable-result.ts";
import { fromResultOutcome } from "./result-outcome.ts";

export type TrialResultReading =
  | { readonly kind: "ok"; readonly record: TrialRecord }
  | { readonly kind: "malformed"; readonly reason: string };

export interface TrialResultContext {
  /** The attempt's folder name: it counts, whatever the file says. */
  readonly rolloutName: string;
  /** What lies beside the file, where the file itself does not tell (BenchFlow's files). */
  readonly evidence?: {
    /** Text of `verifier/ctrf.json`. */
    readonly ctrf?: string | null;
    /** True when `evidence/` holds the agent's final workspace. */
    readonly workspaceSaved?: boolean;
  };
}

/**
 * Reads a result.json written by us or by BenchFlow 0.6 to 0.9 (spec 1.4). Never throws: a file that
 * cannot be trusted comes back as `malformed` with the reason, so that its reader can set it aside
 * and count the others. For our files the recorded outcome stands, and it must agree with the
 * rewards; for BenchFlow's it is derived (`deriveOutcome`).
 */
export function readTrialResult(text: string, context: TrialResultContext): TrialResultReading {
  const parsed = parseLenientJson(text);
  if (parsed.kind === "malformed") return parsed;
  const file = ReadableResult.safeParse(parsed.value);
  if (!file.success) {
    return { kind: "malformed", reason: describeIssues(file.error, parsed.value) };
  }
  if (nestingDepth(file.data.rewards, MAX_REWARDS_DEPTH) > MAX_REWARDS_DEPTH) {
    return malformed(`rewards nests more than ${MAX_REWARDS_DEPTH} levels deep`);
  }
  const found = findRewards(file.data);
  const contradiction = contradictionIn(file.data, found);
  if (contradiction !== null) return malformed(contradiction);
  return { kind: "ok", record: toRecord(file.data, found, context) };
}

const MAX_REWARDS_DEPTH = 20;

function malformed(reason: string): TrialResultReading {
  return { kind: "malformed", reason };
}

function contradictionIn(file: ReadableResult, found: FoundRewards): string | null {
  const { outcome } = file;
  if (outcome === undefined) return null;
  if (outcome.kind === "unscored") {
    return found.kind === "none" ? null : "outcome is unscored and rewards is not null";
  }
  if (found.kind !== "valid") return "outcome is scored and rewards holds no valid reward";
  const { reward } = found.rewards;
  if (reward !== outcome.reward) {
    return `outcome.reward is ${outcome.reward} and rewards.reward is ${reward}`;
  }
  if (outcome.passed !== (reward === 1)) {
    return `outcome.passed is ${outcome.passed} for a reward of ${reward}`;
  }
  return null;
}

function toRecord(
  file: ReadableResult,
  found: FoundRewards,
  context: TrialResultContext,
): TrialRecord {
  const ours = file.outcome !== undefined;
  const steps = file.trajectory_summary;
  return {
    taskName: file.task_name,
    rolloutName: context.rolloutName,
    taskDigest: file.task_digest ?? null,
    contextDigest: file.context_digest ?? null,
    settingsDigest: file.settings_digest ?? null,
    attempt: file.attempt ?? null,
    agent: file.agent ?? "",
    agentName: file.agent_name ?? "",
    model: file.model ?? null,
    ...judgement(file, found),
    toolCalls: file.n_tool_calls ?? 0,
    skillInvocations: file.n_skill_invocations ?? 0,
    prompts: file.n_prompts ?? 0,
    trajectory: steps
      ? { steps: steps.steps ?? 0, toolCallSteps: steps.tool_call_steps ?? 0 }
      : null,
    usage: readUsage(file, ours),
    startedAt: file.started_at_utc ?? file.started_at ?? "",
    finishedAt: file.finished_at_utc ?? file.finished_at ?? "",
    timing: readTiming(file.timing ?? {}),
    spans: (file.timing_spans ?? []).map(({ started_at_utc: startedAt, phase, seconds }) => ({
      phase,
      startedAt,
      seconds,
    })),
    resources: file.resources ?? null,
    isolation: file.isolation ?? null,
    verification: file.verification ?? null,
    workspaceSaved: file.workspace_saved ?? context.evidence?.workspaceSaved ?? false,
    firstFailedTest: file.first_failed_test ?? failedTestBeside(ours, context),
  };
}

function failedTestBeside(ours: boolean, context: TrialResultContext): string | null {
  const ctrf = context.evidence?.ctrf ?? null;
  return ours || ctrf === null ? null : firstFailedTest(ctrf);
}

interface Judgement {
  readonly outcome: Outcome;
  readonly rewards: Rewards | null;
  readonly error: TrialRecord["error"];
  readonly verifierError: TrialRecord["verifierError"];
}

function judgement(file: ReadableResult, found: FoundRewards): Judgement {
  const { outcome, error, verifier_error: verifierError } = file;
  const counted = found.kind === "valid" ? found.rewards : null;
  return {
    outcome: outcome ? fromResultOutcome(outcome) : deriveOutcome(file, found),
    rewards: outcome?.kind === "unscored" ? (file.withheld_rewards ?? null) : counted,
    error:
      typeof error === "string"
        ? {
            category: readErrorCategory(file.error_category),
            message: error,
            ...(file.api_error_info?.transient === true ? { transient: true } : {}),
          }
        : null,
    verifierError:
      typeof verifierError === "string"
        ? { category: readVerifierCategory(file.verifier_error_category), message: verifierError }
        : null,
  };
}

const CONTROLS = new Set(["oracle", "nop", "script"]);

/** BenchFlow writes 0 tokens when it could not count any; only for a control that 0 is a fact. */
function readUsage(file: ReadableResult, ours: boolean): Usage {
  const usage = file.agent_result;
  const source = usage?.usage_source ?? "unavailable";
  const counted = ours || source !== "unavailable" || CONTROLS.has(file.agent ?? "");
  const tokens = (count: number | null | undefined): number | null =>
    counted ? (count ?? null) : null;
  return {
    inputTokens: tokens(usage?.n_input_tokens),
    outputTokens: tokens(usage?.n_output_tokens),
    cacheReadTokens: tokens(usage?.n_cache_read_tokens),
    cacheCreationTokens: tokens(usage?.n_cache_creation_tokens),
    totalTokens: tokens(usage?.total_tokens),
    costUsd: usage?.cost_usd ?? null,
    usageSource: source,
    priceSource: usage?.price_source ?? null,
  };
}

function readTiming(timing: Record<string, unknown>): Record<string, number> {
  const seconds = Object.entries(timing).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] >= 0,
  );
  return Object.fromEntries(seconds);
}

/** The first thing wrong with the file, with the value that was found. */
function describeIssues(error: z.ZodError, value: unknown): string {
  const [issue] = error.issues;
  if (issue === undefined) return "not a trial result";
  const path = issue.path.map(String).join(".");
  const found = describeValue(valueAt(value, issue.path));
  const rule = issue.message.replace(/^Invalid input: /u, "").toLowerCase();
  return path === "" ? `not a trial result: ${rule}` : `${path} is ${found}: ${rule}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}
