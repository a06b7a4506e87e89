import type { Refusal, TaskConfig } from "../model/task.ts";
import type { StartInstruction } from "./dockerfile/instruction.ts";
import { parseDockerfile } from "./dockerfile/parse-dockerfile.ts";
import { planStages, type PlannedStage } from "./dockerfile/plan-stages.ts";
import type { TaskFiles } from "./task-files.ts";

/**
 * Refuses an image that sets an `ENTRYPOINT`. BenchFlow and Harbor start a task's container through
 * it, and tasks prepare files and start services there; sandboxes here start without it, so the
 * task would be scored in a world that its author never saw. `ENTRYPOINT []` sets none. A Dockerfile
 * that cannot be read is left to whoever builds it.
 */
export function refuseEntrypoint(files: TaskFiles, { sandbox }: TaskConfig): Refusal[] {
  const path = "environment/Dockerfile";
  const text = files.texts.get(path);
  // Most tasks have none, and a plan reads ten thousand.
  if (text === undefined || sandbox.dockerImage !== null || !/ENTRYPOINT/iu.test(text)) return [];
  const found = findEntrypoint(text, path);
  if (found === null || isEmpty(found)) return [];
  const reason = "ENTRYPOINT is not run by this edition, and what it starts would be missing";
  return [{ path: `${path}:${found.line}`, reason }];
}

function findEntrypoint(text: string, fileName: string): StartInstruction | null {
  let stages: readonly PlannedStage[];
  try {
    stages = planStages(parseDockerfile(text, fileName), { platform: "linux/amd64" }).stages;
  } catch {
    return null;
  }
  // A stage without one has that of the stage it starts from.
  let stage = stages.at(-1);
  while (stage !== undefined) {
    for (const each of stage.instructions.toReversed()) {
      if (each.kind === "ENTRYPOINT") return each;
    }
    const { base } = stage;
    stage = base.kind === "stage" ? stages.find(({ index }) => index === base.index) : undefined;
  }
  return null;
}

function isEmpty({ command }: StartInstruction): boolean {
  return command.form === "exec" && command.argv.length === 0;
}
