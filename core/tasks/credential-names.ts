const EXACT = new Set([
  "GITHUB_TOKEN",
  "GH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CLAUDE_OAUTH_TOKEN",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "DOCKER_HOST",
  "DOCKER_AUTH_CONFIG",
  "SSH_AUTH_SOCK",
]);

/** Every variable of these: keys, sessions and the addresses that keys are sent to. */
const WHOLE_FAMILIES = new Set(["AWS", "AZURE", "ANTHROPIC", "OPENAI", "E2B"]);

/** Of these the keys: the providers of spec 9.2 and the other common ones, agents' own names, and code hosts. */
const PROVIDERS = new Set(
  "ARK CEREBRAS CLAUDE CLOUDFLARE CODEX COHERE COPILOT DASHSCOPE DAYTONA DEEPSEEK DOUBAO FIREWORKS GEMINI GH GITHUB GITLAB GLM GOOGLE GROQ HUNYUAN KIMI LITELLM MINIMAX MISTRAL MODAL MOONSHOT NPM NVIDIA OPENCODE OPENROUTER PERPLEXITY QWEN TOGETHER VERTEX XAI XIAOMI ZAI ZHIPUAI".split(
    " ",
  ),
);

/**
 * Whether a host variable of this name stays out of every task, whatever `--pass-env` says (attack 3):
 * keys of model providers, of clouds and of sandbox services. A judge that needs a model gets the
 * proxy instead.
 */
export function isCredentialName(name: string): boolean {
  const upper = name.toUpperCase();
  const [family = ""] = upper.split("_");
  const isKey = /_(?:KEY|TOKEN|SECRET|CREDENTIALS?)$/u.test(upper);
  return EXACT.has(upper) || WHOLE_FAMILIES.has(family) || (isKey && PROVIDERS.has(family));
}
