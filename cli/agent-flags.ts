import { readIdleSeconds, readSkillMode, readText, readVariable } from "./flag-values.ts";
import { into, type RunFlag } from "./run-flag.ts";

function append(key: "prompts" | "extraInstructions"): RunFlag["set"] {
  return (draft, value, flag) => {
    draft[key] = [...(draft[key] ?? []), readText(value, flag)];
  };
}

/** Without `=` a value stands in no command line, where every user of the machine could read it. */
const setVariable: RunFlag["set"] = (draft, text, flag) => {
  const [name, value] = readVariable(text, flag);
  if (value === null) draft.hostVariables = [...(draft.hostVariables ?? []), name];
  else draft.agentEnv = { ...draft.agentEnv, [name]: value };
};

/** The flags of `bench run` that say how its agent works (spec 5.2). */
export const AGENT_FLAGS: readonly RunFlag[] = [
  {
    flags: "--reasoning-effort <level>",
    help: "how hard the model thinks, by the agent's own word for it (claude, codex)",
    hidden: true,
    set: into("reasoningEffort", readText),
  },
  {
    flags: "--prompt <text>",
    help: "what the agent is asked, in the place of the task's prompt (repeatable: sent in order)",
    set: append("prompts"),
  },
  {
    flags: "--extra-instruction <text>",
    help: "text at the end of the agent's first prompt (repeatable)",
    set: append("extraInstructions"),
  },
  {
    flags: "--agent-env <name=value>",
    help: "a variable for the agent's program; NAME alone takes this machine's value (repeatable)",
    set: setVariable,
  },
  {
    flags: "--skill-mode <mode>",
    help: "no-skill (default), or with-skill: the agent gets the skills in each task's environment/skills",
    set: into("skillMode", readSkillMode),
  },
  {
    flags: "--skills-dir <dir>",
    help: "with --skill-mode with-skill: a folder of skills in the place of the tasks' own",
    set: into("skillsDir", readText),
  },
  {
    flags: "--sandbox-user <name>",
    help: "name of the agent's user in the sandbox (default: agent)",
    hidden: true,
    set: into("sandboxUser", readText),
  },
  {
    flags: "--agent-idle-timeout <seconds>",
    help: "stop an agent that shows no activity; 0 or none: never (default: 600)",
    hidden: true,
    set: into("agentIdleTimeoutSec", readIdleSeconds),
  },
];
