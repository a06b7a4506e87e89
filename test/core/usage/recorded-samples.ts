import type { ModelProtocol } from "../../../core/model/exchange.ts";
import type { PriceCard } from "../../../core/model/usage-price.ts";

/** A reply whose usage was recorded, as a stream's events and as a whole body. */
export interface RecordedSample {
  readonly name: string;
  readonly protocol: ModelProtocol;
  /** Null where the sample is of one form only. */
  readonly events: readonly unknown[] | null;
  readonly body: unknown;
  /** Input, output, cache read, 5 minute write, 1 hour write: disjoint. */
  readonly tokens: readonly [number, number, number, number, number];
  readonly reasoning: number | null;
  /** At `CARD`'s prices, rounded up once. */
  readonly microUsd: number;
}

/** $3 in, $15 out, $0.30 cache read, $3.75 and $6 cache writes per million tokens. */
const RATES = {
  input: 3_000_000_000,
  output: 15_000_000_000,
  cacheRead: 300_000_000,
  cacheWrite5m: 3_750_000_000,
  cacheWrite1h: 6_000_000_000,
};
export const CARD: PriceCard = {
  provider: "test",
  model: "m",
  source: "test",
  date: null,
  urls: [],
  now: { base: RATES, tiers: [] },
  soon: [],
  perCall: 0,
  contextTokens: null,
  maxOutputTokens: null,
  caveats: [],
};

const ended = { stop_reason: "end_turn" };

/** A message's usage, told in its first event and completed by deltas, as notes/agents 7 has it. */
function messages(
  name: string,
  usage: Record<string, unknown>,
  expected: Pick<RecordedSample, "tokens" | "reasoning" | "microUsd">,
): RecordedSample {
  const { output_tokens: output, output_tokens_details: details, ...prompt } = usage;
  const last = {
    output_tokens: output,
    ...(details === undefined ? {} : { output_tokens_details: details }),
  };
  return {
    name,
    protocol: "anthropic-messages",
    events: [
      { type: "message_start", message: { model: "m", usage: { ...prompt, output_tokens: 1 } } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ünï🎉" } },
      // Cumulative: a smaller one first, nulls beside it.
      { type: "message_delta", delta: {}, usage: { output_tokens: 2, input_tokens: null } },
      { type: "message_delta", delta: ended, usage: last },
      { type: "message_stop" },
    ],
    body: { type: "message", model: "m", ...ended, usage },
    ...expected,
  };
}

/** Chat Completions: usage in the last chunk alone, whose `choices` are empty or null. */
function chat(
  name: string,
  usage: Record<string, unknown>,
  expected: Pick<RecordedSample, "tokens" | "reasoning" | "microUsd">,
  choices: readonly [] | null = [],
): RecordedSample {
  const choice = { index: 0, finish_reason: "stop" };
  return {
    name,
    protocol: "openai-completions",
    events: [
      { model: "m", choices: [{ index: 0, delta: { content: "ünï🎉" }, finish_reason: null }] },
      { model: "m", choices: [{ ...choice, delta: {} }] },
      { model: "m", choices, usage },
      "[DONE]",
    ],
    body: { object: "chat.completion", model: "m", choices: [choice], usage },
    ...expected,
  };
}

function response(
  name: string,
  status: "completed" | "incomplete" | "failed",
  expected: Pick<RecordedSample, "tokens" | "reasoning" | "microUsd"> & {
    readonly usage: Record<string, unknown>;
  },
): RecordedSample {
  const { usage, ...counted } = expected;
  const whole = { object: "response", status, model: "m", output: [], usage };
  return {
    name,
    protocol: "openai-responses",
    events: [
      { type: "response.created", response: { ...whole, status: "in_progress", usage: null } },
      { type: "response.output_text.delta", delta: "ünï🎉" },
      { type: `response.${status}`, response: whole },
    ],
    body: whole,
    ...counted,
  };
}

/** Gemini: usage in each chunk, of which the last one counts. */
function gemini(
  name: string,
  usageMetadata: Record<string, unknown>,
  expected: Pick<RecordedSample, "tokens" | "reasoning" | "microUsd">,
): RecordedSample {
  const parts = { content: { parts: [{ text: "ünï🎉" }] } };
  const last = {
    candidates: [{ ...parts, finishReason: "STOP" }],
    modelVersion: "m",
    usageMetadata,
  };
  const { promptTokenCount, cachedContentTokenCount } = usageMetadata;
  const first = { promptTokenCount, cachedContentTokenCount, candidatesTokenCount: 1 };
  return {
    name,
    protocol: "gemini",
    events: [{ candidates: [parts], modelVersion: "m", usageMetadata: first }, last],
    body: last,
    ...expected,
  };
}

const RESPONSES_USAGE = {
  input_tokens: 1000,
  output_tokens: 40,
  total_tokens: 1040,
  input_tokens_details: { cached_tokens: 600 },
  output_tokens_details: { reasoning_tokens: 16 },
};
const RESPONSES_COUNTS = {
  usage: RESPONSES_USAGE,
  tokens: [400, 40, 600, 0, 0],
  reasoning: 16,
  microUsd: 1_980,
} as const;

/** Every row of notes/agents section 7, and every recorded number of spec 1.4, 9.5 and 10.6. */
export const RECORDED: readonly RecordedSample[] = [
  messages(
    "Messages, disjoint parts, thinking within the output",
    {
      input_tokens: 350,
      cache_creation_input_tokens: 50,
      cache_read_input_tokens: 600,
      cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 0 },
      output_tokens: 40,
      output_tokens_details: { thinking_tokens: 16 },
    },
    // 1050 + 600 + 180 + 187.5
    { tokens: [350, 40, 600, 50, 0], reasoning: 16, microUsd: 2_018 },
  ),
  messages(
    "Messages with both kinds of cache writes",
    {
      input_tokens: 350,
      cache_creation_input_tokens: 50,
      cache_read_input_tokens: 600,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
      output_tokens: 40,
    },
    // 1050 + 600 + 180 + 75 + 180
    { tokens: [350, 40, 600, 20, 30], reasoning: null, microUsd: 2_085 },
  ),
  chat(
    "Chat Completions, cached and reasoning tokens within the counts",
    {
      prompt_tokens: 1000,
      completion_tokens: 40,
      total_tokens: 1040,
      prompt_tokens_details: { cached_tokens: 600 },
      completion_tokens_details: { reasoning_tokens: 16 },
    },
    // 1200 + 600 + 180
    { tokens: [400, 40, 600, 0, 0], reasoning: 16, microUsd: 1_980 },
  ),
  chat(
    "Chat Completions of a server whose last chunk has null choices",
    { prompt_tokens: 1000, completion_tokens: 40, total_tokens: 1040 },
    { tokens: [1000, 40, 0, 0, 0], reasoning: null, microUsd: 3_600 },
    null,
  ),
  chat(
    "DeepSeek's own name for the cache",
    {
      prompt_tokens: 1000,
      completion_tokens: 40,
      total_tokens: 1040,
      prompt_cache_hit_tokens: 600,
      prompt_cache_miss_tokens: 400,
    },
    { tokens: [400, 40, 600, 0, 0], reasoning: null, microUsd: 1_980 },
  ),
  response("Responses, completed", "completed", RESPONSES_COUNTS),
  response("Responses, incomplete", "incomplete", RESPONSES_COUNTS),
  response("Responses, failed", "failed", RESPONSES_COUNTS),
  gemini(
    "Gemini, thoughts beside the candidates and the cache within the prompt",
    {
      promptTokenCount: 1000,
      cachedContentTokenCount: 600,
      candidatesTokenCount: 24,
      thoughtsTokenCount: 16,
      totalTokenCount: 1040,
    },
    { tokens: [400, 40, 600, 0, 0], reasoning: 16, microUsd: 1_980 },
  ),
  gemini(
    "Gemini, what tools returned beside the prompt (spec 9.5)",
    {
      promptTokenCount: 1000,
      toolUsePromptTokenCount: 7,
      candidatesTokenCount: 24,
      thoughtsTokenCount: 16,
      totalTokenCount: 1047,
    },
    // 3021 + 600
    { tokens: [1007, 40, 0, 0, 0], reasoning: 16, microUsd: 3_621 },
  ),
  chat(
    "spec 9.5: a gateway's inclusive numbers with Anthropic's names kept beside them",
    {
      prompt_tokens: 330_692,
      completion_tokens: 8_817,
      total_tokens: 339_509,
      cache_read_input_tokens: 204_853,
      cache_creation_input_tokens: 47_669,
    },
    // 234510 + 132255 + 61455.9 + 178758.75, not the 583,214 tokens that were reported
    { tokens: [78_170, 8_817, 204_853, 47_669, 0], reasoning: null, microUsd: 606_980 },
  ),
  messages(
    "spec 1.4: the same run in Anthropic's disjoint parts",
    {
      input_tokens: 78_170,
      cache_read_input_tokens: 204_853,
      cache_creation_input_tokens: 47_669,
      output_tokens: 8_817,
    },
    { tokens: [78_170, 8_817, 204_853, 47_669, 0], reasoning: null, microUsd: 606_980 },
  ),
  chat(
    "spec 10.6: the recorded exchange",
    { prompt_tokens: 31_619, completion_tokens: 127, total_tokens: 31_746 },
    // 94857 + 1905
    { tokens: [31_619, 127, 0, 0, 0], reasoning: null, microUsd: 96_762 },
  ),
];

/** A stream's bytes, as a provider sends it: named events for those protocols that name them. */
export function streamText({ events, protocol }: RecordedSample): string {
  const isNamed = protocol === "anthropic-messages" || protocol === "openai-responses";
  const parts = (events ?? []).map((event) => {
    const data = typeof event === "string" ? event : JSON.stringify(event);
    const type = typeof event === "object" && event !== null && "type" in event ? event.type : "";
    return `${isNamed ? `event: ${String(type)}\n` : ""}data: ${data}\n\n`;
  });
  return parts.join("");
}
