import { describe, expect, test } from "vitest";
import { describeScenes } from "../../../core/results/describe-scenes.ts";
import { problemOfSkills, skillsOf } from "../../../core/plan/task-skills.ts";
import { aTask, someSettings } from "./plan-builders.ts";

const taskWith = (skills: readonly string[], skillsDir: string | null = null) => {
  const task = aTask("task", { dir: "/t/task", skills: [...skills] });
  return { ...task, config: { ...task.config, sandbox: { ...task.config.sandbox, skillsDir } } };
};
const WITH = { skillMode: "with-skill", skillsDir: null } as const;
const OWN = { skillMode: "with-skill", skillsDir: "/home/me/shared skills/" } as const;

describe("the skills of a trial", () => {
  test("are none without the mode, and the task's own are then out of its image", () => {
    expect(skillsOf(taskWith(["a"]), { skillMode: "no-skill", skillsDir: null })).toMatchObject({
      hostDir: null,
      sandboxDir: null,
      leaveOut: ["skills"],
      fields: { skill_mode: "no-skill", skill_source: "none", include_task_skills: false },
    });
  });

  test("are the task's own, in its image too, at the place that the task says", () => {
    expect(skillsOf(taskWith(["a"], "/opt/skills"), WITH)).toMatchObject({
      hostDir: "/t/task/environment/skills",
      sandboxDir: "/opt/skills",
      leaveOut: [],
      fields: {
        skill_source: "task_bundled",
        requested_skills_dir: null,
        effective_skills_dir: "environment/skills",
        skills_sandbox_dir: "/opt/skills",
        include_task_skills: true,
      },
    });
  });

  test("are the person's in the task's place, of whom results name no folder of the machine", () => {
    const skills = skillsOf(taskWith(["a"], "/opt/skills"), OWN);
    expect(skills).toMatchObject({
      hostDir: OWN.skillsDir,
      sandboxDir: "/skills",
      leaveOut: ["skills"],
      fields: { skill_source: "custom_runtime", requested_skills_dir: "shared skills" },
    });
    expect(JSON.stringify(skills.fields)).not.toContain("/home/me");
  });

  test.for([
    [[], null, /it brings no skills/u],
    [["a"], "skills", /no folder that skills can be put in/u],
    [["a"], "/", /no folder/u],
    [["a"], "/a/../tests", /no folder/u],
    [["a"], "/tests/skills", /no folder/u],
    [["a"], "/usr/bin", /no folder/u],
    [["a"], "/opt/bench/node", /no folder/u],
  ] as const)("that cannot be put there are a refusal: %j at %s", ([skills, place, why]) => {
    expect(problemOfSkills(taskWith(skills, place), WITH)).toMatch(why);
    expect(problemOfSkills(taskWith(skills, place), OWN)).toBeNull();
    const none = { skillMode: "no-skill", skillsDir: null } as const;
    expect(problemOfSkills(taskWith(skills, place), none)).toBeNull();
  });
});

test("a trial's scenes tell its prompts, its skills and the names of its variables, no values", () => {
  const spec = { task: taskWith(["a"]), agent: "claude-agent-acp", model: "m" };
  const settings = someSettings({ ...WITH, prompts: ["A", "B"], agentEnv: { B_KEY: "x", A: "y" } });
  const scenes = describeScenes({ spec, settings, isAsked: true });
  // The contract's order (spec 1.4 #37).
  expect(scenes.map((scene) => Object.keys(scene))).toEqual([
    ["name", "skills_dir", "roles", "turns"],
  ]);
  expect(scenes).toEqual([
    {
      name: "default",
      skills_dir: "/skills",
      roles: [
        {
          name: "agent",
          agent: "claude-agent-acp",
          model: "m",
          reasoning_effort: null,
          timeout_sec: null,
          idle_timeout_sec: null,
          skills_dir: "/skills",
          capabilities: null,
          env_keys: ["A", "B_KEY"],
        },
      ],
      turns: [
        { role: "agent", has_prompt: true },
        { role: "agent", has_prompt: true },
      ],
    },
  ]);
});
