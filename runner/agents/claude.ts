import { AgentDefinition } from "../../core/model/agent-definition.ts";

/**
 * Claude Code behind its ACP adapter (notes on agents, 2 to 5). `bypassPermissions`, because the default
 * mode asks a model of its own, at the run's cost, whether each command is safe. Its session title is
 * one request beside the work that nothing switches off.
 */
export const claude = AgentDefinition.parse({
  name: "claude-agent-acp",
  aliases: ["claude"],
  packages: { "@agentclientprotocol/claude-agent-acp": "0.101.0" },
  platforms: ["linux/amd64", "linux/arm64"],
  protocols: ["anthropic-messages"],
  login: "claude",
  argv: ["{node}", "{tree}/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"],
  env: {
    ANTHROPIC_BASE_URL: "{origin}",
    ANTHROPIC_AUTH_TOKEN: "{token}",
    ANTHROPIC_MODEL: "{model}",
    ANTHROPIC_SMALL_FAST_MODEL: "{model}",
    CLAUDE_CODE_SUBAGENT_MODEL: "{model}",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_TELEMETRY: "1",
    IS_SANDBOX: "1",
  },
  // What the person's own Claude Code is set to has no place in a measurement.
  sessionMeta: { claudeCode: { options: { settingSources: [] } } },
  sessionMetaOffline: {
    claudeCode: { options: { settingSources: [], disallowedTools: ["WebFetch", "WebSearch"] } },
  },
  calls: [{ method: "session/set_mode", params: { modeId: "bypassPermissions" } }],
  // Its home holds nothing but these.
  skills: {
    dirs: [".claude/skills"],
    sessionMeta: { claudeCode: { options: { settingSources: ["user"] } } },
  },
  confirm: { model: "model", effort: "effort" },
  effort: { option: "effort" },
});
