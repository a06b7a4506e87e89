import type { Dirent } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import pLimit from "p-limit";
import { BenchError } from "../../core/errors.ts";
import type { SkippedTask, Task } from "../../core/model/task.ts";
import { compareNames } from "../../core/plan/compare-names.ts";
import { parseTask } from "../../core/tasks/parse-task.ts";
import { formatProblem } from "../../core/tasks/problem.ts";
import { findTwins, problemOfName } from "../../core/tasks/task-names.ts";
import { digestContext, digestFiles } from "./digest-folder.ts";
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
  const root = await openFolder(path);
  const sources = gitPath === null ? null : new GitSources(gitPath);
  const candidates = await findCandidates(root);
  if (candidates.length === 0) throw noTasks(path);
  const twins = findTwins(candidates.map((each) => each.name));
  const limit = pLimit(READERS);
  const read = await Promise.all(
    candidates.map((candidate) => {
      return limit(() => readCandidate(candidate, twins.get(candidate.name) ?? null, sources));
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

interface Candidate {
  readonly name: string;
  readonly dir: string;
  /** Known before anything in it is read. */
  readonly problem: string | null;
}

async function readCandidate(
  { name, dir, problem }: Candidate,
  twin: string | null,
  sources: GitSources | null,
): Promise<Task | SkippedTask> {
  const known = problem ?? problemOfName(name) ?? twinProblem(twin);
  if (known !== null) return { name, reason: known };
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

function twinProblem(twin: string | null): string | null {
  if (twin === null) return null;
  return `the name differs from ${JSON.stringify(twin)} only in case or accents, some systems take both for one`;
}

function joinReasons([first = "cannot be read", ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} (and ${more.length} more)`;
}

async function openFolder(path: string): Promise<string> {
  const next = "give a task's folder, or a folder of tasks";
  const stats = await stat(path).catch(() => null);
  if (stats === null) throw new BenchError("config", `no such folder: ${path}`, { next });
  if (!stats.isDirectory()) throw new BenchError("config", `not a folder: ${path}`, { next });
  return await realpath(resolve(path));
}

async function findCandidates(root: string): Promise<readonly Candidate[]> {
  if (await hasDefinition(root)) return [{ name: basename(root), dir: root, problem: null }];
  const found = await findChildren(root);
  const inner = join(root, "tasks");
  const isFolder = (await lstat(inner).catch(() => null))?.isDirectory() === true;
  return found.length > 0 || !isFolder ? found : await findChildren(inner);
}

async function findChildren(root: string): Promise<readonly Candidate[]> {
  const children = await readdir(root, { withFileTypes: true }).catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
    throw new BenchError("config", `cannot list ${root} (${code})`, { next: "make it readable" });
  });
  const candidates = await Promise.all(children.map((child) => asCandidate(root, child)));
  return candidates
    .filter((candidate) => candidate !== null)
    .toSorted((a, b) => compareNames(a.name, b.name));
}

async function asCandidate(root: string, child: Dirent): Promise<Candidate | null> {
  const dir = join(root, child.name);
  const { name } = child;
  if (child.isSymbolicLink()) {
    const problem = "is a link to a folder, and links are not followed";
    return (await hasDefinition(dir)) ? { name, dir, problem } : null;
  }
  if (!child.isDirectory()) return null;
  if (await hasDefinition(dir)) return { name, dir, problem: null };
  const names = await readdir(dir).catch(() => null);
  if (names === null) return { name, dir, problem: "cannot be listed" };
  const problem = "has neither task.toml nor task.md";
  return looksLikeTask(new Set(names)) ? { name, dir, problem } : null;
}

/** A folder with a task's parts but no definition is a mistake to report, not a folder to pass over. */
function looksLikeTask(names: ReadonlySet<string>): boolean {
  const isScored = names.has("tests") || names.has("verifier");
  return names.has("instruction.md") || (names.has("environment") && isScored);
}

async function hasDefinition(dir: string): Promise<boolean> {
  for (const name of ["task.toml", "task.md"]) {
    if ((await lstat(join(dir, name)).catch(() => null)) !== null) return true;
  }
  return false;
}

function noTasks(path: string): BenchError {
  return new BenchError(
    "config",
    `no tasks in ${path}: no folder in it holds a task.toml or task.md`,
    {
      next: `\`bench tasks init ${join(path, "my-task")}\` writes a first one`,
    },
  );
}
