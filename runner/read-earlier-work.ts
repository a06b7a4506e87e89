import type { TrialRecord } from "../core/model/record.ts";
import type { AgentEnd } from "../core/outcome/trial-evidence.ts";
import type { AttemptFolder } from "../core/ports/attempt-folder.ts";
import { readTrialResult } from "../core/results/read-trial-result.ts";

const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** What an earlier attempt's result tells of the work that is only verified again. */
export interface EarlierWork {
  /** Null when the result cannot be read. */
  readonly agentName: string | null;
  readonly toolCalls: number;
  readonly end: AgentEnd;
  /** What a reader of the new result should know: that the earlier one told nothing. */
  readonly notes: readonly string[];
}

/**
 * Reads how an earlier attempt's agent ended, its limit included, so that a score of its work says the
 * same. A result that cannot be trusted or is above 64 MiB stands for an agent that ended by itself, and
 * is told in a note. Throws `BenchError` when the file is not there.
 */
export async function readEarlierWork(
  folder: Pick<AttemptFolder, "readFrom">,
  rolloutName: string,
): Promise<EarlierWork> {
  const text = await readResult(folder, rolloutName);
  if (text === null)
    return unknownWork(rolloutName, `it is above ${String(MAX_RESULT_BYTES)} bytes`);
  const reading = readTrialResult(text, { rolloutName });
  if (reading.kind === "malformed") return unknownWork(rolloutName, reading.reason);
  const { agentName, toolCalls } = reading.record;
  return { agentName, toolCalls, end: endOf(reading.record), notes: [] };
}

async function readResult(
  folder: Pick<AttemptFolder, "readFrom">,
  rolloutName: string,
): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of folder.readFrom(rolloutName, "result.json")) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_RESULT_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function unknownWork(rolloutName: string, reason: string): EarlierWork {
  const note = `how the agent of ${rolloutName} ended is not known, its result cannot be read: ${reason}`;
  return { agentName: null, toolCalls: 0, end: { kind: "completed" }, notes: [note] };
}

function endOf({ error: told, verification }: TrialRecord): AgentEnd {
  const end = verification?.agent_end;
  if (end === undefined) return endOfError(told);
  // What ended the sandbox under the verifier is no error of the agent's.
  const error = end.has_error ? told : null;
  if (end.limit !== null) return { kind: "limit", limit: end.limit, error };
  return error === null ? { kind: "completed" } : { kind: "error", error, exitCode: end.exit_code };
}

/** Of results that were written before `agent_end` was. */
function endOfError(error: TrialRecord["error"]): AgentEnd {
  if (error === null) return { kind: "completed" };
  if (error.category === "timeout") return { kind: "limit", limit: "wall-clock", error };
  if (error.category === "idle_timeout") return { kind: "limit", limit: "idle", error };
  return { kind: "error", error, exitCode: null };
}
