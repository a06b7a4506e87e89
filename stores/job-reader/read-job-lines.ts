import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  aggregateLine,
  JOB_LINE_FILES,
  type LineError,
  renderLineErrors,
} from "../../core/results/aggregate-lines.ts";
import type { AggregatedLine } from "../../core/results/aggregate-lines.ts";
import { listEntries } from "../files/read-attempts.ts";
import { readTextFile } from "./read-text-file.ts";

const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Files read before other work of the process has its turn. */
const FILES_AT_ONCE = 64;
const ERRORS_FILE = "results.errors.json";

/**
 * The job's results.jsonl, verifiers.jsonl and adp.jsonl, made of the lines of the attempts that
 * count, in the order given (that of task names). A line that cannot be taken over is named in
 * results.errors.json, which is among the files only when there is such a line, or was one before.
 * File name to text; the caller, who owns the job, writes them.
 */
export async function readJobLines(
  jobDir: string,
  rolloutNames: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const errors: LineError[] = [];
  for (const file of JOB_LINE_FILES) {
    const lines: string[] = [];
    for await (const { rolloutName, found } of readLines(jobDir, rolloutNames, file)) {
      if (found.kind === "line") lines.push(found.line);
      else errors.push({ rollout_name: rolloutName, file: file.trialFile, reason: found.reason });
    }
    files.set(file.name, lines.join(""));
  }
  if (errors.length > 0 || (await hasErrorsFile(jobDir))) {
    files.set(ERRORS_FILE, renderLineErrors(errors));
  }
  return files;
}

interface ReadLine {
  readonly rolloutName: string;
  readonly found: AggregatedLine;
}

async function* readLines(
  jobDir: string,
  rolloutNames: readonly string[],
  file: (typeof JOB_LINE_FILES)[number],
): AsyncGenerator<ReadLine> {
  for (const [index, rolloutName] of rolloutNames.entries()) {
    if (index % FILES_AT_ONCE === 0) await setImmediate();
    const path = join(jobDir, rolloutName, file.trialFile);
    yield { rolloutName, found: readLine(path, file.numbered ? index : null) };
  }
}

function readLine(path: string, exampleId: number | null): AggregatedLine {
  const found = readTextFile(path, MAX_LINE_BYTES);
  switch (found.kind) {
    case "text":
      return aggregateLine(found.text, exampleId);
    case "missing":
      return { kind: "refused", reason: "is missing" };
    case "refused":
      return { kind: "refused", reason: found.reason };
  }
}

async function hasErrorsFile(jobDir: string): Promise<boolean> {
  return (await listEntries(jobDir)).some((entry) => entry.name === ERRORS_FILE);
}
