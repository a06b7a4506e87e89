import type { RunSettings } from "../model/settings.ts";
import type { Task } from "../model/task.ts";
import type { SkillFields } from "../model/trial-result.ts";
import { TASK_SKILLS } from "../tasks/dockerfile/leave-out.ts";

/** Where skills lie in a sandbox, unless a task says another place for its own. */
const SKILLS_PATH = "/skills";

/** Which skills one trial has, and where they come from. */
export interface TaskSkills {
  /** A folder of this machine; null for a trial without skills. */
  readonly hostDir: string | null;
  /** No link in `hostDir` may lead out of this one. */
  readonly boundDir: string;
  /** In the sandbox: root's, and readable for everybody there. Null for a trial without skills. */
  readonly sandboxDir: string | null;
  /** Top names of the build context that its image does not have (spec 11.1). */
  readonly leaveOut: readonly string[];
  /** As results tell it (spec 1.4): names of folders, none of the machine's own paths. */
  readonly fields: SkillFields;
}

type SkillTask = Pick<Task, "dir" | "environmentDir" | "config">;

/**
 * The skills of a trial (spec 9.1, 11.1). Without `with-skill` there are none, and a task's own are not
 * even in its image; with it they are the task's, or those of `--skills-dir` in their place. Pure.
 */
export function skillsOf(
  task: SkillTask,
  { skillMode, skillsDir }: Pick<RunSettings, "skillMode" | "skillsDir">,
): TaskSkills {
  if (skillMode === "no-skill")
    return {
      hostDir: null,
      boundDir: task.dir,
      sandboxDir: null,
      leaveOut: TASK_SKILLS,
      fields: fieldsOf("none", null, null),
    };
  if (skillsDir !== null)
    return {
      hostDir: skillsDir,
      boundDir: skillsDir,
      sandboxDir: SKILLS_PATH,
      leaveOut: TASK_SKILLS,
      fields: fieldsOf("custom_runtime", folderName(skillsDir), SKILLS_PATH),
    };
  const bundled = `${task.environmentDir}/skills`;
  const sandboxDir = task.config.sandbox.skillsDir ?? SKILLS_PATH;
  return {
    hostDir: `${task.dir}/${bundled}`,
    boundDir: task.dir,
    sandboxDir,
    leaveOut: [],
    fields: fieldsOf("task_bundled", bundled, sandboxDir),
  };
}

function fieldsOf(
  source: SkillFields["skill_source"],
  dir: string | null,
  sandboxDir: string | null,
): SkillFields {
  return {
    skill_mode: source === "none" ? "no-skill" : "with-skill",
    skill_source: source,
    requested_skills_dir: source === "custom_runtime" ? dir : null,
    effective_skills_dir: dir,
    skills_sandbox_dir: sandboxDir,
    include_task_skills: source === "task_bundled",
  };
}

/** A folder's own name, of a path. */
export function folderName(path: string): string {
  return path.replace(/\/+$/u, "").split("/").at(-1) ?? path;
}

/** Folders that the runner, the verifier or the system keep for themselves. */
const KEPT =
  /^\/(?:bin|boot|dev|etc|lib|lib64|logs|opt\/bench|oracle|proc|run|sbin|solution|sys|tests|usr|verifier)(?:\/|$)/u;

/** Why a task that runs with skills cannot; null when it can, and for runs without. */
export function problemOfSkills(
  { skills = [], config }: Pick<Task, "skills" | "config">,
  { skillMode, skillsDir }: Pick<RunSettings, "skillMode" | "skillsDir">,
): string | null {
  if (skillMode === "no-skill" || skillsDir !== null) return null;
  if (skills.length === 0)
    return "it brings no skills (environment/skills/NAME/SKILL.md), and --skill-mode with-skill needs them";
  const place = config.sandbox.skillsDir ?? SKILLS_PATH;
  const isSimple = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)+$/u.test(place);
  return isSimple && !KEPT.test(place)
    ? null
    : `sandbox.skills_dir is ${JSON.stringify(place)}, no folder that skills can be put in`;
}
