import { BenchError } from "../core/errors.ts";
import type { RunSettings } from "../core/model/settings.ts";
import { agentEnvMarks, hideSecretValues, secretValues } from "../core/plan/agent-env.ts";
import type { ScoreFacts } from "../core/plan/settings-digest.ts";
import { folderName } from "../core/plan/task-skills.ts";
import type { Sha256 } from "../core/ports/hash.ts";
import type { TaskFiles } from "../core/tasks/task-files.ts";
import { readTaskFiles, UnreadableTask } from "../stores/task-folders/read-task-files.ts";
import type { RunModels } from "./run-models.ts";

/**
 * What a run's agent is given of this machine, as the settings digest knows it: the content of
 * `--skills-dir` and the variables of `--agent-env`. Throws `BenchError` (`usage`) for skills that
 * nobody could use, before anything is created.
 */
export async function readAgentFacts(
  settings: Pick<RunSettings, "skillMode" | "skillsDir" | "agentEnv">,
  sha256: Sha256,
): Promise<Pick<ScoreFacts, "skills" | "agentEnv">> {
  const { skillMode, skillsDir, agentEnv } = settings;
  const marks = { agentEnv: agentEnvMarks(agentEnv, sha256) };
  if (skillsDir === null) return { ...marks, skills: [] };
  if (skillMode === "no-skill")
    throw new BenchError("usage", "--skills-dir gives skills to a run without skills", {
      next: "add `--skill-mode with-skill`",
    });
  return { ...marks, skills: [await digestSkills(skillsDir, sha256)] };
}

/** The settings for everything that is printed or written: no secret value of the person's is in them. */
export function withoutSecrets(settings: RunSettings): RunSettings {
  return { ...settings, agentEnv: hideSecretValues(settings.agentEnv) };
}

/** The way to a run's models, whose records leave out what the person gives the agent in secret. */
export function withAgentSecrets(
  models: RunModels | null,
  { agentEnv }: Pick<RunSettings, "agentEnv">,
): RunModels | null {
  return models === null ? null : { ...models, agentSecrets: secretValues(agentEnv) };
}

/** Paths, contents and executable bits: what an agent has of a skill. */
async function digestSkills(dir: string, sha256: Sha256): Promise<string> {
  const files = await readSkills(dir);
  const odd = [...files.entries].find(([, { kind }]) => kind !== "file" && kind !== "folder");
  if (odd !== undefined)
    throw refused(dir, `${odd[0]} is neither a file nor a folder, and links are not followed`);
  const hasSkill = [...files.entries].some(
    ([path, { kind }]) => kind === "file" && /^[^/]+\/SKILL\.md$/u.test(path),
  );
  if (!hasSkill) throw refused(dir, "no folder in it has a SKILL.md");
  const lines = [...files.entries].map(([path, entry]) =>
    JSON.stringify([path, entry.kind, entry.executable, entry.sha256]),
  );
  return `sha256:${sha256(lines.toSorted().join("\n"))}`;
}

async function readSkills(dir: string): Promise<TaskFiles> {
  try {
    return await readTaskFiles(dir);
  } catch (cause) {
    if (cause instanceof UnreadableTask) throw refused(dir, cause.message, cause);
    throw cause;
  }
}

function refused(dir: string, why: string, cause?: unknown): BenchError {
  return new BenchError("usage", `--skills-dir ${folderName(dir)}: ${why}`, {
    next: "give a folder of skills: NAME/SKILL.md, and what belongs to it",
    cause,
  });
}
