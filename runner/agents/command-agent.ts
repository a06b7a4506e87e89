import { BenchError } from "../../core/errors.ts";
import { AgentDefinition } from "../../core/model/agent-definition.ts";
import type { KnownAgent } from "./known-agents.ts";

/**
 * `acp:COMMAND LINE`: any program of the task's image that speaks ACP on its stdin and stdout. The line
 * is the person's own, and run by the sandbox's shell as the agent's user. How its models are reached
 * is told in the neutral variables of BenchFlow (spec 9.2) and in the ones that most programs read.
 */
export function commandAgent(name: string): KnownAgent {
  const line = name.slice("acp:".length).trim();
  if (line === "")
    throw new BenchError("usage", "acp: names no command", {
      next: '`-a "acp:my-agent --acp"`, with a program that the task\'s image has',
    });
  const definition = AgentDefinition.parse({
    name: "acp",
    platforms: ["linux/amd64", "linux/arm64"],
    protocols: ["openai-completions", "anthropic-messages", "openai-responses", "gemini"],
    argv: ["/bin/sh", "-c", `exec ${line}`],
    env: {
      BENCHFLOW_PROVIDER_NAME: "bench",
      BENCHFLOW_PROVIDER_MODEL: "{model}",
      BENCHFLOW_PROVIDER_BASE_URL: "{origin}",
      BENCHFLOW_PROVIDER_API_KEY: "{token}",
      BENCHFLOW_PROVIDER_PROTOCOL: "{protocol}",
      OPENAI_BASE_URL: "{origin}/v1",
      OPENAI_API_KEY: "{token}",
      ANTHROPIC_BASE_URL: "{origin}",
      ANTHROPIC_AUTH_TOKEN: "{token}",
      ANTHROPIC_MODEL: "{model}",
      GOOGLE_GEMINI_BASE_URL: "{origin}",
      GEMINI_API_KEY: "{token}",
    },
  });
  return { definition, lock: null };
}
