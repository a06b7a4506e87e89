import { renderRewardEvents, rewardEvents } from "../outcome/reward-events.ts";
import type { EndedTrial } from "./ended-trial.ts";
import { toLocalStamp } from "./local-stamp.ts";
import { toPythonJson } from "./python-json.ts";
import { resultsRow } from "./render-results-row.ts";
import { adpRow, renderAtif, verifiersRow } from "./render-trainer-files.ts";

/**
 * Every file that stands beside result.json and follows from the ended trial (spec 1.2, 1.7, 1.8):
 * relative path to text. The runner writes them before result.json, which is the last but the seal.
 */
export function renderSideFiles(trial: EndedTrial): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  files.set("timing.json", renderTiming(trial));
  files.set("prompts.json", JSON.stringify(trial.prompts, null, 2));
  const rewards = renderRewards(trial);
  if (rewards !== null) files.set("rewards.jsonl", rewards);
  files.set("results.jsonl", `${toPythonJson(resultsRow(trial))}\n`);
  files.set("trainer/verifiers.jsonl", `${toPythonJson(verifiersRow(trial))}\n`);
  files.set("trainer/adp.jsonl", `${toPythonJson(adpRow(trial))}\n`);
  const atif = renderAtif(trial);
  if (atif !== null) files.set("trainer/atif.json", atif);
  return files;
}

/** result.json's `timing`, with the spans of all phases, which add up to the total. */
function renderTiming({ record }: EndedTrial): string {
  const spans = record.spans.map(({ phase, startedAt, seconds }) => ({
    phase,
    started_at_utc: startedAt,
    seconds,
  }));
  return JSON.stringify({ ...record.timing, spans }, null, 2);
}

/** rewards.jsonl (spec 1.7); null when nothing counts. */
function renderRewards({ record, utcOffsetMinutes }: EndedTrial): string | null {
  if (record.outcome.kind === "unscored" || record.rewards === null) return null;
  const finishedAt = toLocalStamp(record.finishedAt, utcOffsetMinutes).replace(" ", "T");
  return renderRewardEvents(rewardEvents(record.rewards, finishedAt));
}

/** sandbox.json, written once a sandbox exists and before its first use, so that a leak is found. */
export function renderSandboxFile(sandbox: {
  readonly id: string;
  readonly provider: string;
  /** UTC, with `Z`. */
  readonly createdAt: string;
}): string {
  const { id, provider, createdAt } = sandbox;
  return `${JSON.stringify({ sandbox_id: id, provider, created_at: createdAt }, null, 2)}\n`;
}
