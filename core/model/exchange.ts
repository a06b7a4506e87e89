import * as z from "zod";
import { TokenBuckets } from "./usage-buckets.ts";

/** What an agent speaks to the model proxy, and what a provider speaks back. */
export const ModelProtocol = z.enum([
  "anthropic-messages",
  "openai-completions",
  "openai-responses",
  "gemini",
]);
export type ModelProtocol = z.infer<typeof ModelProtocol>;

/**
 * Why an agent asked. Only `main` requests void or redeem a trial (attack 8); the others are what
 * agents ask beside their work: a session title, the next prompt to suggest, what to remember, whether
 * a command is safe, whether a model exists.
 */
export const CallPurpose = z.enum(["main", "title", "suggestion", "memory", "classifier", "probe"]);
export type CallPurpose = z.infer<typeof CallPurpose>;

/** Sampling parameters as they went upstream; null where the request left one to the provider. */
export const Sampling = z.object({
  max_tokens: z.number().nullable(),
  temperature: z.number().nullable(),
  top_p: z.number().nullable(),
  top_k: z.number().nullable(),
  seed: z.number().nullable(),
  n: z.number().nullable(),
  /** The effort's word, or the budget of thinking tokens, as sent. */
  reasoning: z.union([z.string(), z.number()]).nullable(),
});
export type Sampling = z.infer<typeof Sampling>;

/**
 * How a request ended for the agent. `answered`: the provider's reply, whatever its status, came to
 * its end. `cut`: the reply broke off. `capped`: we ended it at its output limit. `timeout`: our
 * first-byte, idle or total limit, or the agent's own after a long silence of the provider's.
 * `unreachable`: no HTTP answer. `aborted`: the agent went away. `refused`: it never went upstream.
 * `stopped`: `stop()` cut it off.
 */
export const CallEnd = z.enum([
  "answered",
  "cut",
  "capped",
  "timeout",
  "unreachable",
  "aborted",
  "refused",
  "stopped",
]);
export type CallEnd = z.infer<typeof CallEnd>;

/**
 * Why a reply with a status of success holds no answer. `error`: it tells a failure of the provider.
 * `rejected`: it tells that the request was wrong. `empty`: it is none of the protocol's, or nothing.
 */
export const ReplyFailure = z.enum(["error", "rejected", "empty"]);
export type ReplyFailure = z.infer<typeof ReplyFailure>;

export const UsageStatus = z.enum(["complete", "incomplete", "anomaly", "none"]);
export type UsageStatus = z.infer<typeof UsageStatus>;

/** One line of trajectory/requests.jsonl: everything about a model request but its bodies. */
export const RequestRow = z.object({
  index: z.int().min(0),
  at_utc: z.string(),
  protocol: ModelProtocol.nullable(),
  path: z.string(),
  purpose: CallPurpose.nullable(),
  model_asked: z.string().nullable(),
  model_sent: z.string().nullable(),
  model_served: z.string().nullable(),
  end: CallEnd,
  /** Status that the agent saw; null when it saw none. */
  status: z.int().nullable(),
  /** Status of the provider's last answer; null without one. */
  upstream_status: z.int().nullable(),
  /** Requests sent upstream for this one, our own retries included. */
  upstream_tries: z.int().min(0),
  /** 1 for a first try, one more for each failed request of the same purpose right before it. */
  try: z.int().min(1),
  refusal: z.string().nullable(),
  ttfb_ms: z.number().nullable(),
  duration_ms: z.number(),
  /** How long we held it back: for the pot, or between our own retries (attack 7). */
  held_ms: z.number(),
  request_bytes: z.int().min(0),
  response_bytes: z.int().min(0),
  tools: z.int().min(0),
  stream: z.boolean(),
  sampling: Sampling.nullable(),
  stop_reason: z.string().nullable(),
  /** Null for an answer, and wherever the status or the end tell of the failure already. */
  reply_failure: ReplyFailure.nullable().default(null),
  usage_status: UsageStatus,
  tokens: TokenBuckets.nullable(),
  /** Part of `tokens.output`; null when not told. */
  reasoning_tokens: z.int().min(0).nullable(),
  /** A guess from bytes where the usage never came; never charged. */
  estimate: TokenBuckets.nullable(),
  anomaly: z.string().nullable(),
  /** What is charged, in micro-dollars; null when the price is unknown. */
  cost_micro_usd: z.int().min(0).nullable(),
  cost_status: z.enum(["priced", "free", "unpriced", "subscription", "reserved", "none"]),
  price_source: z.string().nullable(),
  /** Things billed beyond the five buckets, for example a provider's web search. */
  unpriced: z.array(z.string()),
  /** Null where the provider speaks the agent's protocol. */
  translation: z
    .object({
      /** What the provider was asked in. */
      to: ModelProtocol,
      /** Of the agent's request: what that protocol has no words for, by name. */
      left_out: z.array(z.string()),
    })
    .nullable()
    .default(null),
});
export type RequestRow = z.infer<typeof RequestRow>;

/** One line of trajectory/llm_trajectory.jsonl (spec 10.6), bodies redacted and capped. */
export const Exchange = z.object({
  request: z.object({
    timestamp: z.string(),
    method: z.string(),
    path: z.string(),
    headers: z.record(z.string(), z.string()),
    /** As the provider got it. */
    body: z.unknown(),
    /** As the agent sent it, where it was translated. */
    agent_body: z.unknown().optional(),
  }),
  response: z.object({
    timestamp: z.string(),
    status_code: z.int().nullable(),
    headers: z.record(z.string(), z.string()),
    body: z.unknown(),
  }),
  duration_ms: z.number(),
  metadata: z.object({
    request_model: z.string().nullable(),
    provider_model: z.string().nullable(),
    model_group: z.string().nullable(),
    call_type: z.string(),
    input_shape: z.object({
      has_messages: z.boolean(),
      has_input: z.boolean(),
      n_messages: z.int().min(0),
    }),
    call_purpose: z.string(),
    /** Ties the line to its row in requests.jsonl. */
    index: z.int().min(0),
    sampling: Sampling.nullable(),
    request_dropped_bytes: z.int().min(0),
    response_dropped_bytes: z.int().min(0),
    end: CallEnd,
  }),
});
export type Exchange = z.infer<typeof Exchange>;
