import { createHash } from "node:crypto";
import { expect } from "vitest";
import { parseTask } from "../../../core/tasks/parse-task.ts";
import type { ParsedTask } from "../../../core/tasks/parse-result.ts";
import { formatProblem } from "../../../core/tasks/problem.ts";
import type { TaskEntry, TaskFiles } from "../../../core/tasks/task-files.ts";
import { isTextWanted } from "../../../core/tasks/task-files.ts";

/** The files of a task as they would be read from a disk; scripts are executable. */
export function someFiles(contents: Readonly<Record<string, string>>, name = "hello"): TaskFiles {
  const entries = new Map<string, TaskEntry>();
  const texts = new Map<string, string>();
  for (const [path, text] of Object.entries(contents)) {
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
      entries.set(path.slice(0, at), anEntry({ kind: "folder" }));
    }
    if (path.endsWith("/")) continue;
    const sha256 = createHash("sha256").update(text).digest("hex");
    const sizeBytes = Buffer.byteLength(text);
    entries.set(path, anEntry({ sha256, sizeBytes, executable: path.endsWith(".sh") }));
    if (isTextWanted(path)) texts.set(path, text);
  }
  return { name, entries, texts };
}

export function anEntry(over: Partial<TaskEntry> = {}): TaskEntry {
  return { kind: "file", sizeBytes: 0, executable: false, sha256: "", target: "", ...over };
}

const SHARED = {
  "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
};

/** A sound Harbor task with this task.toml. */
export function harborFiles(toml = "", over: Readonly<Record<string, string>> = {}): TaskFiles {
  return someFiles({
    "task.toml": toml,
    "instruction.md": "do it\n",
    "tests/test.sh": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "#!/bin/bash\ntrue\n",
    ...SHARED,
    ...over,
  });
}

/** A sound native task with this task.md. */
export function nativeFiles(
  taskMd: string,
  over: Readonly<Record<string, string>> = {},
): TaskFiles {
  return someFiles({
    "task.md": taskMd,
    "verifier/test.sh": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
    "oracle/solve.sh": "#!/bin/bash\ntrue\n",
    ...SHARED,
    ...over,
  });
}

export function parsed(files: TaskFiles): ParsedTask {
  const result = parseTask(files);
  if (result.kind === "invalid") expect.fail(result.problems.map(formatProblem).join("\n"));
  return result.task;
}

/** The lines that say why a task cannot be read; empty when it can. */
export function problemsOf(files: TaskFiles): readonly string[] {
  const result = parseTask(files);
  return result.kind === "invalid" ? result.problems.map(formatProblem) : [];
}

export const toml = (text: string): ParsedTask => parsed(harborFiles(text));
export const yaml = (text: string, body = "do it\n"): ParsedTask => {
  return parsed(nativeFiles(`---\n${text}\n---\n${body}`));
};
