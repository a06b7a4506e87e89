import type { RunSettings } from "../model/settings.ts";
import type { AttemptSpec } from "../model/trial.ts";
import type { Scene } from "../model/trial-result.ts";
import { skillsOf } from "../plan/task-skills.ts";
import { type Opening, planConversation } from "../tasks/conversation.ts";
import { describeScene } from "./render-trial-result.ts";

export interface SceneFacts {
  readonly spec: Pick<AttemptSpec, "task" | "agent" | "model">;
  readonly settings: RunSettings;
  /** False for the controls, whom nobody asks anything. */
  readonly isAsked: boolean;
}

/**
 * Who takes part in a trial and in which order they speak (spec 1.4 #37): the task's scenes where it has
 * some that the run does not replace, else one scene with a turn for each prompt. What a simulated user
 * adds is no turn of these, since it depends on what the agent says.
 */
export function describeScenes({ spec, settings, isAsked }: SceneFacts): Scene[] {
  const { task, agent, model } = spec;
  const { sandboxDir: skillsDir } = skillsOf(task, settings);
  const envKeys = Object.keys(settings.agentEnv).toSorted();
  const facts = { agent, model, reasoning_effort: settings.reasoningEffort };
  const describe = (name: string, turn: Scene["turns"][number], turns: number): Scene => {
    const { roles } = describeScene(facts);
    const own = { name: turn.role, skills_dir: skillsDir, env_keys: envKeys };
    const shown = roles.map((role) => Object.assign(role, own));
    return {
      name,
      skills_dir: skillsDir,
      roles: shown,
      turns: Array.from({ length: turns }, () => turn),
    };
  };
  if (!isAsked) return [describe("default", { role: "agent", has_prompt: false }, 1)];
  const { openings } = planConversation(task, settings);
  return splitScenes(openings).map(([{ scene, role }, ...others]) => {
    const hasPrompt = scene !== null || settings.prompts.length > 0;
    const turn = { role: role ?? "agent", has_prompt: hasPrompt };
    return describe(scene ?? "default", turn, 1 + others.length);
  });
}

/** Every opening is in a scene, also one before the first that opens a session. */
function splitScenes(openings: readonly Opening[]): [Opening, ...Opening[]][] {
  const scenes: [Opening, ...Opening[]][] = [];
  for (const opening of openings) {
    const last = scenes.at(-1);
    if (last === undefined || opening.opensSession) scenes.push([opening]);
    else last.push(opening);
  }
  return scenes;
}
