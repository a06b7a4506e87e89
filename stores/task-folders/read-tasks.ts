import { setImmediate } from "node:timers/promises";
import pLimit from "p-limit";
import type { SkippedTask, Task } from "../../core/model/task.ts";
import { parseTask } from "../../core/tasks/parse-task.ts";
import { formatProblem } from "../../core/tasks/problem.ts";
import { digestContext, digestFiles } from "./digest-folder.ts";
import type { Candidate } from "./find-candidates.ts";
import { findCandidates } from "./find-candidates.ts";
import { GitSources } from "./git-source.ts";
import { readTaskFiles, UnreadableTask } from "./read-task-files.ts";

export interface FoundTasks {
  /** By name, in the order of its UTF-8 bytes. */
  readonly tasks: Task[];
  /** What looked like a task and cannot be read or named, each with its reason. */
  readonly skipped: SkippedTask[];
}

export interface ReadOptions {
  /** PATH in which git is looked for, to record where tasks came from; null records nothing. */
  readonly gitPath?: string | null;
}

const READERS = 8;
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * Reads the tasks at a path: one task, a folder of tasks, or a folder with such a `tasks/` folder
 * (spec 6.1). Every folder that looks like a task ends up in one of the two lists.
 *
 * Throws `BenchError` (config) when the path is missing, is no folder, or holds no task.
 */
export async function readTasks(path: string, options: ReadOptions = {}): Promise<FoundTasks> {
  const { gitPath = DEFAULT_PATH } = options;
  const candidates = await findCandidates(path);
  const sources = gitPath === null ? null : new GitSources(gitPath);
  const limit = pLimit(READERS);
  const read = await Promise.all(
    candidates.map((candidate) => {
      return limit(() => readCandidate(candidate, sources));
    }),
  );
  const tasks: Task[] = [];
  const skipped: SkippedTask[] = [];
  for (const each of read) {
    if ("reason" in each) skipped.push(each);
    else tasks.push(each);
  }
  return { tasks, skipped };
}

async function readCandidate(
  { name, dir, problem }: Candidate,
  sources: GitSources | null,
): Promise<Task | SkippedTask> {
  if (problem !== null) return { name, reason: problem };
  try {
    // Small files are read without threads, so this is where signals get their turn.
    await setImmediate();
    const files = await readTaskFiles(dir);
    const parsed = parseTask(files);
    if (parsed.kind === "invalid")
      return { name, reason: joinReasons(parsed.problems.map(formatProblem)) };
    const { task } = parsed;
    const { dockerImage } = task.config.sandbox;
    const image: Task["image"] =
      dockerImage === null
        ? { kind: "dockerfile", contextDigest: digestContext(files, task.environmentDir) }
        : { kind: "prebuilt", reference: dockerImage };
    const source = (await sources?.sourceOf(dir)) ?? null;
    return { ...task, dir, digest: digestFiles(files), image, source };
  } catch (error) {
    if (error instanceof UnreadableTask) return { name, reason: error.message };
    throw error;
  }
}

function joinReasons([first = "cannot be read", ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} (and ${more.length} more)`;
}
