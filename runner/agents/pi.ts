import { AgentDefinition } from "../../core/model/agent-definition.ts";

/**
 * Pi behind its ACP adapter (notes on agents, 2 to 5). The two packages must match: an adapter asks an
 * older Pi what it never answers. The adapter starts Pi by a command of one word, so that is a script.
 */
export const pi = AgentDefinition.parse({
  name: "pi-acp",
  aliases: ["pi"],
  packages: { "pi-acp": "0.0.34", "@earendil-works/pi-coding-agent": "1.6.0" },
  platforms: ["linux/amd64", "linux/arm64"],
  protocols: ["openai-completions", "anthropic-messages", "openai-responses"],
  argv: ["{node}", "{tree}/node_modules/pi-acp/dist/index.js"],
  env: {
    PI_ACP_PI_COMMAND: "{home}/.pi/bin/pi",
    PI_OFFLINE: "1",
    PI_SKIP_VERSION_CHECK: "1",
    PI_TELEMETRY: "0",
  },
  mcpServers: false,
  skills: { dirs: [".pi/agent/skills"] },
  files: [
    {
      path: ".pi/bin/pi",
      executable: true,
      content: `#!/bin/sh
exec "{node}" "{tree}/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js" "$@"
`,
    },
    {
      path: ".pi/agent/models.json",
      content: {
        providers: {
          bench: {
            baseUrl: "{base}",
            api: "{protocol}",
            apiKey: "{token}",
            models: [
              {
                id: "{model}",
                name: "{model}",
                reasoning: false,
                input: ["text"],
                contextWindow: "{contextTokens}",
                maxTokens: "{maxOutputTokens}",
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
              },
            ],
          },
        },
      },
    },
    {
      path: ".pi/agent/settings.json",
      content: {
        defaultProvider: "bench",
        defaultModel: "{model}",
        quietStartup: true,
        enableInstallTelemetry: false,
      },
    },
  ],
});
