import { AgentDefinition } from "../../core/model/agent-definition.ts";

/**
 * Gemini CLI (notes on agents, 2 to 6). It silently ignores `--yolo` in a folder that it does not trust,
 * and goes on with a running tool when its input ends.
 */
export const gemini = AgentDefinition.parse({
  name: "gemini",
  packages: { "@google/gemini-cli": "0.61.0" },
  platforms: ["linux/amd64", "linux/arm64"],
  protocols: ["gemini"],
  argv: [
    "{node}",
    "{tree}/node_modules/@google/gemini-cli/bundle/gemini.js",
    "--acp",
    "--yolo",
    "--model",
    "{model}",
  ],
  env: {
    GEMINI_API_KEY: "{token}",
    GOOGLE_GEMINI_BASE_URL: "{origin}",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    GEMINI_TELEMETRY_ENABLED: "false",
  },
  files: [
    {
      path: ".gemini/settings.json",
      content: {
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      },
    },
  ],
  skills: { dirs: [".gemini/skills"] },
  authenticate: "gemini-api-key",
  ignoresEnd: true,
});
