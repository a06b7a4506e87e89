import { AgentDefinition } from "../../core/model/agent-definition.ts";

/**
 * Codex behind its ACP adapter (notes on agents, 2 to 5). A provider of ours in config.toml, since it
 * takes names of models that it does not know from there only. Its title is set before the first prompt,
 * because it would otherwise ask another model for one.
 */
export const codex = AgentDefinition.parse({
  name: "codex-acp",
  aliases: ["codex"],
  packages: { "@agentclientprotocol/codex-acp": "2.6.0" },
  platforms: ["linux/amd64", "linux/arm64"],
  protocols: ["openai-responses"],
  login: "codex",
  // Its model finds their tools by a search that is no function (`tool_search`).
  mcpServers: "untranslated",
  argv: ["{node}", "{tree}/node_modules/@agentclientprotocol/codex-acp/dist/index.js"],
  env: {
    OPENAI_API_KEY: "{token}",
    INITIAL_AGENT_MODE: "agent-full-access",
    NO_BROWSER: "1",
  },
  files: [
    {
      path: ".codex/config.toml",
      withEffort: "model_reasoning_effort = {quoted:effort}\n",
      content: `model = {quoted:model}
model_provider = "bench"
approval_policy = "never"
sandbox_mode = "danger-full-access"
web_search = "disabled"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
remote_plugin = false
plugin_discovery_prefetch = false
[model_providers.bench]
name = "bench"
base_url = "{origin}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = false
`,
    },
  ],
  skills: { dirs: [".agents/skills"] },
  calls: [{ method: "session/set_title", params: { title: "task" } }],
  effort: "files",
});
