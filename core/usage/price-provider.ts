/** Where a list keeps the prices of one of our providers, and what is uncertain about them. */
export interface PriceProvider {
  readonly id: string;
  readonly caveats: readonly string[];
}

/**
 * Our provider prefixes to the ids of genai-prices (notes/dependencies 1). Prefixes without an entry
 * have no public list price there: xiaomi, qwen-dashscope, doubao, hunyuan, github-models, vllm,
 * litellm. A Map, so that a hostile prefix like `constructor` finds nothing.
 */
const PROVIDERS: ReadonlyMap<string, PriceProvider> = new Map([
  ["openai", { id: "openai", caveats: [] }],
  ["us-openai", { id: "openai", caveats: ["the surcharge of the US region is not included"] }],
  ["anthropic", { id: "anthropic", caveats: [] }],
  ["gemini", { id: "google", caveats: [] }],
  ["google-vertex", { id: "google", caveats: ["regional surcharges are not included"] }],
  ["anthropic-vertex", { id: "google", caveats: ["regional surcharges are not included"] }],
  ["deepseek", { id: "deepseek", caveats: [] }],
  // Zhipu's own list is in CNY; z.ai's list in USD differs from it, so the two are kept apart.
  ["glm", { id: "zhipuai", caveats: ["converted from a list in CNY"] }],
  ["zai", { id: "zai", caveats: [] }],
  ["kimi", { id: "moonshotai", caveats: [] }],
  ["minimax", { id: "minimax", caveats: [] }],
  ["openrouter", { id: "openrouter", caveats: [] }],
  ["azure-foundry-openai", { id: "azure", caveats: [] }],
  ["azure-foundry-anthropic", { id: "anthropic", caveats: ["Anthropic's own list"] }],
  ["aws-bedrock", { id: "aws", caveats: [] }],
]);

/** The list's provider for our prefix; null when that list has no prices for it. */
export function priceProvider(prefix: string): PriceProvider | null {
  return PROVIDERS.get(prefix) ?? null;
}
