import { type Agent, NO_USAGE } from "./agent.ts";

/** The empty control: the untouched workspace is verified. A task that it passes is broken (spec 9.1). */
export const nop: Agent = {
  name: "nop",
  runsAs: "agent-user",
  needsSolution: false,
  models: null,
  mounts: [],
  run: () =>
    Promise.resolve({
      agentName: "nop",
      end: { kind: "completed" },
      toolCalls: 0,
      skillInvocations: 0,
      prompts: [],
      usage: NO_USAGE,
    }),
};
