import { AgentDefinition } from "../../core/model/agent-definition.ts";

/**
 * Qwen Code (notes on agents, 2 to 5). Its memory and its suggestions are requests beside the work, and
 * are switched off; `--yolo`, because it would otherwise ask a model whether each command is safe.
 */
export const qwen = AgentDefinition.parse({
  name: "qwen",
  packages: { "@qwen-code/qwen-code": "0.24.4" },
  platforms: ["linux/amd64", "linux/arm64"],
  protocols: ["openai-completions"],
  argv: [
    "{node}",
    "{tree}/node_modules/@qwen-code/qwen-code/cli-entry.js",
    "--acp",
    "--yolo",
    "--auth-type",
    "openai",
  ],
  env: {
    OPENAI_API_KEY: "{token}",
    OPENAI_BASE_URL: "{base}",
    OPENAI_MODEL: "{model}",
    QWEN_TELEMETRY_ENABLED: "false",
  },
  skills: { dirs: [".qwen/skills"] },
  files: [
    {
      path: ".qwen/settings.json",
      content: {
        security: { auth: { selectedType: "openai" } },
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
        ui: { enableFollowupSuggestions: false },
      },
    },
  ],
});
