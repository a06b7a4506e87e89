import type { Provider, ProviderEndpoint } from "./provider.ts";

type Entry = Pick<Provider, "prefix"> & Partial<Omit<Provider, "prefix">>;

const COMPLETIONS: ProviderEndpoint = {
  protocol: "openai-completions",
  baseUrl: null,
  keyHeader: "bearer",
  outputLimitField: "max_tokens",
};

const RESPONSES: ProviderEndpoint = {
  ...COMPLETIONS,
  protocol: "openai-responses",
  outputLimitField: "max_output_tokens",
};

/** OpenAI's newer models refuse `max_tokens`, and think with tools in Responses alone. */
const OPENAI: readonly [ProviderEndpoint, ProviderEndpoint] = [
  RESPONSES,
  { ...COMPLETIONS, outputLimitField: "max_completion_tokens" },
];

/** Messages at a path of the provider's own origin, with the key as these providers document it. */
function messagesAt(baseUrl: string): ProviderEndpoint {
  return {
    protocol: "anthropic-messages",
    baseUrl,
    keyHeader: "bearer",
    outputLimitField: "max_tokens",
  };
}

/** How a provider's own variables begin: `qwen-dashscope` is `QWEN_DASHSCOPE`. */
export function variableStem(prefix: string): string {
  return prefix.toUpperCase().replaceAll("-", "_");
}

function provider(entry: Entry): Provider {
  const name = variableStem(entry.prefix);
  return {
    families: [],
    keyNames: [`${name}_API_KEY`],
    keyIsOptional: false,
    baseUrlName: `${name}_BASE_URL`,
    baseUrl: null,
    endpoints: [COMPLETIONS],
    models: null,
    unbuilt: null,
    ...entry,
  };
}

/** The providers of spec 9.2, with `anthropic` and `gemini` as entries of their own. */
export const PROVIDERS: readonly Provider[] = [
  provider({
    prefix: "anthropic",
    families: ["claude"],
    baseUrl: "https://api.anthropic.com",
    endpoints: [
      {
        protocol: "anthropic-messages",
        baseUrl: null,
        keyHeader: "x-api-key",
        outputLimitField: "max_tokens",
      },
    ],
  }),
  provider({
    prefix: "gemini",
    families: ["gemini"],
    keyNames: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    endpoints: [
      {
        protocol: "gemini",
        baseUrl: null,
        keyHeader: "x-goog-api-key",
        outputLimitField: "maxOutputTokens",
      },
    ],
  }),
  provider({
    prefix: "openai",
    families: ["gpt", "o1", "o3"],
    baseUrl: "https://api.openai.com/v1",
    endpoints: OPENAI,
  }),
  provider({
    prefix: "us-openai",
    keyNames: ["OPENAI_API_KEY"],
    baseUrl: "https://us.api.openai.com/v1",
    endpoints: OPENAI,
  }),
  provider({ prefix: "openrouter", baseUrl: "https://openrouter.ai/api/v1" }),
  provider({
    prefix: "github-models",
    keyNames: ["GITHUB_TOKEN"],
    baseUrl: "https://models.github.ai/inference",
  }),
  provider({
    prefix: "xiaomi",
    families: ["xiaomi", "mimo"],
    endpoints: [COMPLETIONS, messagesAt("/anthropic")],
  }),
  provider({
    prefix: "deepseek",
    families: ["deepseek"],
    baseUrl: "https://api.deepseek.com/v1",
    endpoints: [COMPLETIONS, messagesAt("/anthropic")],
  }),
  provider({
    prefix: "zai",
    baseUrl: "https://api.z.ai/api/paas/v4",
    endpoints: [COMPLETIONS, messagesAt("/api/anthropic")],
  }),
  provider({
    prefix: "glm",
    families: ["glm"],
    endpoints: [COMPLETIONS, messagesAt("/api/anthropic")],
  }),
  provider({
    prefix: "kimi",
    families: ["kimi", "moonshot"],
    endpoints: [COMPLETIONS, messagesAt("/anthropic")],
  }),
  provider({
    prefix: "minimax",
    families: ["minimax"],
    endpoints: [COMPLETIONS, messagesAt("/anthropic")],
  }),
  provider({
    prefix: "qwen-dashscope",
    families: ["qwen"],
    keyNames: ["QWEN_API_KEY"],
    baseUrlName: "QWEN_BASE_URL",
  }),
  provider({ prefix: "doubao-seed-2-lite", baseUrlName: "DOUBAO_VOLCES_BASE_URL" }),
  provider({ prefix: "doubao-seed-2-pro", baseUrlName: "DOUBAO_VOLCES_BASE_URL" }),
  provider({ prefix: "hunyuan" }),
  provider({
    prefix: "vllm",
    keyNames: ["OPENAI_API_KEY"],
    keyIsOptional: true,
    baseUrlName: "BENCHFLOW_PROVIDER_BASE_URL",
    endpoints: [COMPLETIONS, RESPONSES, messagesAt("/")],
  }),
  provider({
    prefix: "litellm",
    endpoints: [COMPLETIONS, RESPONSES, messagesAt("/")],
  }),
  provider({
    prefix: "azure-foundry-openai",
    keyNames: ["AZURE_API_KEY"],
    baseUrlName: "AZURE_FOUNDRY_OPENAI_BASE_URL",
    endpoints: [
      { ...OPENAI[0], keyHeader: "api-key" },
      { ...OPENAI[1], keyHeader: "api-key" },
    ],
  }),
  provider({
    prefix: "azure-foundry-anthropic",
    keyNames: ["AZURE_API_KEY"],
    baseUrlName: "AZURE_FOUNDRY_ANTHROPIC_BASE_URL",
    endpoints: [
      {
        protocol: "anthropic-messages",
        baseUrl: null,
        keyHeader: "x-api-key",
        outputLimitField: "max_tokens",
      },
    ],
  }),
  ...["aws-bedrock", "google-vertex", "anthropic-vertex"].map((prefix) =>
    provider({
      prefix,
      unbuilt: "its requests are signed or addressed in a way that the proxy does not have yet",
    }),
  ),
];

/** Every variable that holds a provider's key: all that a `.env` may give (attack 3). */
export const KEY_NAMES: ReadonlySet<string> = new Set(
  PROVIDERS.flatMap(({ keyNames }) => keyNames),
);
