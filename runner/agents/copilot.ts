import { AgentDefinition } from "../../core/model/agent-definition.ts";

/**
 * GitHub Copilot's command line with a provider of one's own, which needs no login (notes on agents, 2
 * to 5). It unpacks 235 MB into its home at each start.
 */
export const copilot = AgentDefinition.parse({
  name: "copilot",
  packages: { "@github/copilot": "1.0.102" },
  protocols: ["openai-completions"],
  argv: ["{tree}/node_modules/@github/copilot-linux-x64/copilot", "--acp", "--no-auto-update"],
  mcpServers: false,
  skills: { dirs: [".copilot/skills"] },
  env: {
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_BASE_URL: "{base}",
    COPILOT_PROVIDER_API_KEY: "{token}",
    COPILOT_PROVIDER_WIRE_API: "completions",
    COPILOT_MODEL: "{model}",
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
    COPILOT_ALLOW_ALL: "true",
  },
});
