import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../core/errors.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import {
  IGNORE_FILES,
  type IgnoreRules,
  parseDockerignore,
} from "../../core/tasks/dockerfile/dockerignore.ts";
import { codeOf } from "../../host/error-code.ts";

/** The file that says what stays out of a build context. */
export interface IgnoreFile {
  readonly name: (typeof IGNORE_FILES)[number];
  readonly text: string;
  readonly rules: IgnoreRules;
}

/** Docker allows 1000 patterns; a longer file is a mistake or an attack. */
const MAX_BYTES = 1024 * 1024;
// A pipe or a device that someone planted must not hold the reader, nor a link lead out of the task.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The rules of a build context, null when it has none. Only a file that is not there means none: one
 * that cannot be read, is a link or is malformed throws `build-failed`, for what it keeps out of the
 * image, a solution say, would get in.
 */
export function readIgnoreFile(contextDir: string): IgnoreFile | null {
  for (const name of IGNORE_FILES) {
    try {
      const text = readText(join(contextDir, name));
      if (text !== null) return { name, text, rules: parseDockerignore(text) };
    } catch (error) {
      throw new SandboxError("build-failed", `${name}: ${messageOf(error)}`, { cause: error });
    }
  }
  return null;
}

function readText(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, READ);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    if (codeOf(error) === "ELOOP") throw new Error("is a link", { cause: error });
    throw error;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error("is not a plain file");
    if (stats.size > MAX_BYTES) throw new Error(`has ${String(stats.size)} bytes, at most 1 MiB`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
