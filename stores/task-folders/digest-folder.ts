import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { BenchError } from "../../core/errors.ts";
import { compareNames } from "../../core/plan/compare-names.ts";
import {
  IGNORE_FILES,
  isIgnored,
  parseDockerignore,
} from "../../core/tasks/dockerfile/dockerignore.ts";
import type { TaskEntry, TaskFiles } from "../../core/tasks/task-files.ts";
import { entriesBelow } from "../../core/tasks/task-files.ts";
import { readTaskFiles, UnreadableTask } from "./read-task-files.ts";

/** A record of where a task came from; it does not belong to the task. */
const SOURCE_FILE = ".benchflow-source.json";

/**
 * The digest of a task's folder (spec 7): every regular file but `.benchflow-source.json`, its path
 * and content, in the order of the paths' UTF-8 bytes. Links, empty folders, modes and times do not
 * count. Throws `BenchError` (config) when the path is no folder or cannot be read.
 */
export async function digestFolder(dir: string): Promise<string> {
  const stats = await stat(dir).catch(() => null);
  if (stats?.isDirectory() !== true) {
    throw new BenchError("config", `no folder at ${dir}`, { next: "give the folder of a task" });
  }
  try {
    return digestFiles(await readTaskFiles(dir));
  } catch (error) {
    if (!(error instanceof UnreadableTask)) throw error;
    throw new BenchError("config", `cannot digest ${dir}: ${error.message}`, {
      next: "make the folder readable",
      cause: error,
    });
  }
}

/** The same digest from a folder that was read already. */
export function digestFiles({ entries }: TaskFiles): string {
  const hashes = new Map<string, string>();
  for (const [path, { kind, sha256 }] of entries) {
    const [name] = path.split("/").slice(-1);
    if (kind === "file" && name !== SOURCE_FILE) hashes.set(path, sha256);
  }
  return digestHashes(hashes);
}

/** Step 5 of spec 7.1: per file its path, one zero byte and the 32 bytes of its sha256. */
export function digestHashes(hashes: ReadonlyMap<string, string>): string {
  const whole = createHash("sha256");
  for (const path of Array.from(hashes.keys()).toSorted(compareNames)) {
    whole
      .update(path, "utf8")
      .update("\0")
      .update(hashes.get(path) ?? "", "hex");
  }
  return `sha256:${whole.digest("hex")}`;
}

/**
 * The digest of a build context: what Docker would send, minus times and owners. Paths, kinds,
 * executable bits, contents and link targets count; `.dockerignore` is applied, and the Dockerfile
 * always counts. Throws `UnreadableTask` for a `.dockerignore` that Docker refuses.
 */
export function digestContext(files: TaskFiles, environmentDir: string): string {
  const rules = readIgnoreRules(files, environmentDir);
  const whole = createHash("sha256");
  const inside = entriesBelow(files, environmentDir).filter(([path]) => {
    return path === "Dockerfile" || !isIgnored(rules, path);
  });
  for (const [path, entry] of inside.toSorted(([a], [b]) => compareNames(a, b))) {
    whole.update(path, "utf8").update(`\0${markOf(entry)}\0`);
    whole.update(entry.kind === "file" ? entry.sha256 : entry.target, "utf8").update("\0");
  }
  return `sha256:${whole.digest("hex")}`;
}

function markOf({ kind, executable }: TaskEntry): string {
  return kind === "file" && executable ? "executable" : kind;
}

function readIgnoreRules(files: TaskFiles, environmentDir: string) {
  const path = IGNORE_FILES.map((name) => `${environmentDir}/${name}`).find((each) => {
    return files.texts.has(each);
  });
  try {
    return parseDockerignore(path === undefined ? "" : (files.texts.get(path) ?? ""));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UnreadableTask(`${path ?? ""}: ${message}`);
  }
}
