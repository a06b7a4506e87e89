import { oneLine } from "./describe-value.ts";
import { toPythonJson } from "./python-json.ts";

/** The jsonl files of a job, and where each trial's own line of them lies (spec 1.1, 1.2). */
export const JOB_LINE_FILES = [
  { name: "results.jsonl", trialFile: "results.jsonl", numbered: true },
  { name: "verifiers.jsonl", trialFile: "trainer/verifiers.jsonl", numbered: false },
  { name: "adp.jsonl", trialFile: "trainer/adp.jsonl", numbered: false },
] as const;

/** Why a trial's line is missing from a job's file. */
export interface LineError {
  readonly rollout_name: string;
  readonly file: string;
  readonly reason: string;
}

export type AggregatedLine =
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * A trial's line for a job's jsonl file, ended by a line feed. `exampleId` renumbers results.jsonl
 * in order of task name; null keeps the line as it is.
 */
export function aggregateLine(text: string, exampleId: number | null): AggregatedLine {
  const line = text.trim();
  if (line.includes("\n")) return { kind: "refused", reason: "has more than one line" };
  try {
    const row: unknown = JSON.parse(line);
    if (typeof row !== "object" || row === null || Array.isArray(row)) {
      return { kind: "refused", reason: "is no JSON object" };
    }
    const numbered = exampleId === null ? row : { ...row, example_id: exampleId };
    return { kind: "line", line: `${toPythonJson(numbered)}\n` };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return { kind: "refused", reason: `is not valid JSON: ${oneLine(cause, 160)}` };
  }
}

/** The text of results.errors.json: which trials' lines could not be taken over, and why. */
export function renderLineErrors(errors: readonly LineError[]): string {
  return `${JSON.stringify({ schema_version: 1, errors }, null, 2)}\n`;
}
