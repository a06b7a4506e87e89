import { setImmediate } from "node:timers/promises";
import type { SkippedTask } from "../../core/model/task.ts";
import type { TaskCheck } from "../../core/tasks/check-task.ts";
import { checkTask } from "../../core/tasks/check-task.ts";
import { findCandidates } from "./find-candidates.ts";
import { readTaskFiles, UnreadableTask } from "./read-task-files.ts";

/**
 * Checks every task at a path as `readTasks` finds them; one that cannot be read has its reason as an
 * issue. Throws as `readTasks` does.
 */
export async function checkTasks(path: string): Promise<readonly TaskCheck[]> {
  const checks: TaskCheck[] = [];
  for (const { name, dir, problem } of await findCandidates(path)) {
    await setImmediate();
    checks.push(
      problem === null ? await checkFolder(name, dir) : asCheck({ name, reason: problem }),
    );
  }
  return checks;
}

async function checkFolder(name: string, dir: string): Promise<TaskCheck> {
  try {
    return checkTask(await readTaskFiles(dir));
  } catch (error) {
    if (error instanceof UnreadableTask) return asCheck({ name, reason: error.message });
    throw error;
  }
}

function asCheck({ name, reason }: SkippedTask): TaskCheck {
  return { name, issues: [reason], warnings: [] };
}
