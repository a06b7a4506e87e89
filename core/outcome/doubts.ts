import type { TrialRecord } from "../model/record.ts";

/**
 * Notes of a result (`isolation.notes`) for a zero that may say nothing about the agent. They take no
 * score away: only the task's author can tell. Readers of old results match on these words.
 */

/** The tests were run, and what they printed shows that they lacked something (failures C-19). */
export const MISSING_TOOL_NOTE =
  "reward 0, but the verifier's output shows a tool that it could not find or install";

/** A service that the agent started is gone when the tests come: nothing of an agent lives on. */
export function endedProcessesNote(count: number): string {
  return `${count} processes that were left running were ended before the tests`;
}

const ENDED_PROCESSES = new RegExp(`^${endedProcessesNote(0).replace("0", String.raw`\d+`)}$`, "u");

/** Whether a trial scored 0 with tests that lacked a tool. */
export function lackedTool(record: TrialRecord): boolean {
  return hasDoubtfulZero(record, (note) => note === MISSING_TOOL_NOTE);
}

/** Whether a trial scored 0 after something that it had left running was ended. */
export function lostProcesses(record: TrialRecord): boolean {
  return hasDoubtfulZero(record, (note) => ENDED_PROCESSES.test(note));
}

function hasDoubtfulZero(
  { outcome, isolation }: TrialRecord,
  concerns: (note: string) => boolean,
): boolean {
  return outcome.kind === "scored" && outcome.reward === 0 && !!isolation?.notes.some(concerns);
}
