import type { ModelProtocol } from "../model/exchange.ts";
import type { TokenBound } from "./price-tokens.ts";
import type { RequestFacts } from "./request-facts.ts";

/**
 * The most tokens that one picture can become. Over-estimates: Anthropic's largest pictures take about
 * 4,800, OpenAI's about 10,000 patches times a small factor, Gemini cuts large ones into tiles of 258.
 */
const IMAGE_TOKENS: Readonly<Record<ModelProtocol, number>> = {
  "anthropic-messages": 8_192,
  "openai-completions": 16_384,
  "openai-responses": 16_384,
  gemini: 65_536,
};

/** What providers add to a request unseen: tool-use instructions, templates, start marks. */
const HIDDEN_TOKENS = 2_048;

export interface ModelLimits {
  /** Length of the model's context, prompt and answer together; null when unknown. */
  readonly contextTokens: number | null;
  /** The longest answer that the model is documented to give; null when unknown. */
  readonly maxOutputTokens: number | null;
}

export interface RequestBound {
  readonly tokens: TokenBound;
  /** Why `tokens` is no bound; empty when it is one. */
  readonly unbounded: readonly string[];
}

/**
 * The most that a request can use. A token stands for at least one byte of text, so its body's bytes
 * bound the prompt; pictures count by number instead of by bytes. The answers are bounded by the limit
 * sent, else by the model's documented maximum, else not at all.
 */
export function boundRequest(
  protocol: ModelProtocol,
  request: { readonly facts: RequestFacts; readonly bodyBytes: number },
  limits: ModelLimits,
): RequestBound {
  const { facts, bodyBytes } = request;
  const text = Math.max(0, bodyBytes - facts.images.bytes);
  const prompt = text + facts.images.count * IMAGE_TOKENS[protocol] + HIDDEN_TOKENS;
  const input = Math.ceil(Math.min(prompt, limits.contextTokens ?? prompt));
  const perChoice = facts.outputLimit ?? limits.maxOutputTokens;
  const isLimit = perChoice !== null && perChoice >= 0 && Number.isFinite(perChoice);
  return {
    tokens: { input, output: isLimit ? Math.ceil(perChoice * facts.choices) : 0 },
    unbounded: isLimit ? facts.unbounded : [...facts.unbounded, "output without a limit"],
  };
}
