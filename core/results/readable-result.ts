import * as z from "zod";
import { ErrorCategory, VerifierErrorCategory } from "../model/outcome.ts";
import type { Limit } from "../model/outcome.ts";
import { ResultOutcome, ResultSpan } from "../model/trial-result.ts";
import { Isolation, Resources, Verification } from "../model/trial.ts";

const Text = z.string().nullish();
const Count = z.int().min(0).nullish().catch(null);
const Amount = z.number().min(0).nullish().catch(null);
const SideText = Text.catch(null);

const Usage = z
  .object({
    n_input_tokens: Count,
    n_output_tokens: Count,
    n_cache_read_tokens: Count,
    n_cache_creation_tokens: Count,
    total_tokens: Count,
    cost_usd: Amount,
    usage_source: SideText,
    price_source: SideText,
  })
  .nullish()
  .catch(null);

/**
 * result.json as a reader may meet it: by us or by BenchFlow 0.6 to 0.9, keys missing or new. Wrong
 * types are an error where a score or an identity hangs on the key, and read as unknown elsewhere.
 */
export const ReadableResult = z.object({
  task_name: z.string().min(1),
  rewards: z.record(z.string(), z.unknown()).nullish(),
  agent: Text,
  agent_name: SideText,
  model: Text,
  n_tool_calls: Count,
  n_skill_invocations: Count,
  n_prompts: Count,
  agent_result: Usage,
  trajectory_summary: z.object({ steps: Count, tool_call_steps: Count }).nullish().catch(null),
  error: Text,
  error_category: SideText,
  verifier_error: Text,
  verifier_error_category: SideText,
  api_error_info: z.object({ transient: z.boolean() }).nullish().catch(null),
  transport_error_info: z.object({ process_exit_code: z.int() }).nullish().catch(null),
  integration_failure_info: z.object({ cause: z.string() }).nullish().catch(null),
  started_at: SideText,
  finished_at: SideText,
  timing: z.record(z.string(), z.unknown()).nullish().catch(null),
  task_digest: SideText,
  outcome: ResultOutcome.optional(),
  attempt: z.int().min(1).nullish(),
  context_digest: Text,
  settings_digest: Text,
  withheld_rewards: z.looseObject({ reward: z.number() }).nullish(),
  started_at_utc: SideText,
  finished_at_utc: SideText,
  timing_spans: z.array(ResultSpan).nullish().catch(null),
  resources: Resources.nullish().catch(null),
  isolation: Isolation.nullish().catch(null),
  verification: Verification.nullish().catch(null),
  workspace_saved: z.boolean().nullish().catch(null),
  first_failed_test: SideText,
});
export type ReadableResult = z.infer<typeof ReadableResult>;

/** A category that a newer BenchFlow invented reads as `other`: the error's text is kept beside it. */
export function readErrorCategory(word: string | null | undefined): ErrorCategory {
  const known = ErrorCategory.safeParse(word);
  return known.success ? known.data : "other";
}

export function readVerifierCategory(word: string | null | undefined): VerifierErrorCategory {
  const known = VerifierErrorCategory.safeParse(word);
  return known.success ? known.data : "verifier_other";
}

/** The limit behind an agent error that stands beside a reward (spec 2.5). */
export function limitOf(category: ErrorCategory | null): Limit | null {
  if (category === "timeout") return "wall-clock";
  return category === "idle_timeout" ? "idle" : null;
}
