import type { Dirent } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { BenchError } from "../../core/errors.ts";
import { compareNames } from "../../core/plan/compare-names.ts";
import { findTwins, problemOfName } from "../../core/tasks/task-names.ts";

/** A folder that is, or was meant to be, a task. */
export interface Candidate {
  readonly name: string;
  readonly dir: string;
  /** Known before anything in it is read. */
  readonly problem: string | null;
}

/**
 * The folders to read as tasks: the path itself, its children, or those of its `tasks/` (spec 6.1), by
 * name. Throws `BenchError` (config) when the path is missing, is no folder, or holds no task.
 */
export async function findCandidates(path: string): Promise<readonly Candidate[]> {
  const found = await findFolders(await openFolder(path));
  if (found.length === 0) throw noTasks(path);
  const twins = findTwins(found.map((each) => each.name));
  return found.map(({ name, dir, problem }) => {
    const known = problem ?? problemOfName(name) ?? twinProblem(twins.get(name) ?? null);
    return { name, dir, problem: known };
  });
}

function twinProblem(twin: string | null): string | null {
  if (twin === null) return null;
  return `the name differs from ${JSON.stringify(twin)} only in case or accents, some systems take both for one`;
}

async function openFolder(path: string): Promise<string> {
  const next = "give a task's folder, or a folder of tasks";
  const stats = await stat(path).catch(() => null);
  if (stats === null) throw new BenchError("config", `no such folder: ${path}`, { next });
  if (!stats.isDirectory()) throw new BenchError("config", `not a folder: ${path}`, { next });
  return await realpath(resolve(path));
}

async function findFolders(root: string): Promise<readonly Candidate[]> {
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
