import { AgentDefinition } from "../../core/model/agent-definition.ts";

/**
 * OpenCode's own binary (notes on agents, 2 to 5). Its catalogue also lists models of its makers, which
 * would pass the proxy by: the model is fixed, and the sandbox reaches nothing but the proxy.
 */
export const opencode = AgentDefinition.parse({
  name: "opencode",
  packages: { "opencode-linux-x64": "1.18.33" },
  platforms: ["linux/amd64"],
  protocols: ["openai-completions"],
  argv: ["{tree}/node_modules/opencode-linux-x64/bin/opencode", "acp"],
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
  },
  skills: { dirs: [".config/opencode/skills"] },
  files: [
    {
      path: ".config/opencode/opencode.json",
      content: {
        model: "bench/{model}",
        small_model: "bench/{model}",
        autoupdate: false,
        share: "disabled",
        permission: { "*": "allow" },
        agent: { title: { disable: true } },
        provider: {
          bench: {
            npm: "@ai-sdk/openai-compatible",
            name: "Bench",
            options: { baseURL: "{origin}/v1", apiKey: "{token}" },
            models: {
              "{model}": {
                name: "{model}",
                limit: { context: "{contextTokens}", output: "{maxOutputTokens}" },
              },
            },
          },
        },
      },
    },
  ],
});
