import type { CardGroup, CardSetting } from "../model/run-card.ts";
import { formatReward } from "../results/format-share.ts";
import { showSafely } from "./console/safe-text.ts";

/** Rounding of a sum may leave a half a little below itself. */
const HALF_UP = 0.5 + 1e-9;

/**
 * A rate as whole percents, halves away from zero; `<1%` and `>99%` where the whole number would claim
 * none or all.
 */
export function formatRate(rate: number): string {
  const percent = Math.floor(rate * 100 + HALF_UP);
  if (percent === 0 && rate > 0) return "<1%";
  if (percent === 100 && rate < 1) return ">99%";
  return `${percent}%`;
}

/** `35% to 88%`; `unknown` for none. */
export function formatInterval(ends: { low: number; high: number } | null): string {
  return ends === null ? "unknown" : `${formatRate(ends.low)} to ${formatRate(ends.high)}`;
}

export function formatPair(ends: readonly [number, number] | null): string {
  return ends === null ? "unknown" : formatInterval({ low: ends[0], high: ends[1] });
}

/** Whole rewards as they are, others with two decimals. */
export function formatShortReward(reward: number): string {
  return Number.isInteger(reward) ? String(reward) : formatReward(reward);
}

/** Underscores inside a word are none of Markdown's. */
const MARKUP = /[\\`*[\]<>|#]|(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu;

/**
 * A text of a task, an agent or a provider inside Markdown: what would move a terminal's cursor is
 * written out, what Markdown or HTML would obey is escaped.
 */
export function escapeMarkdown(text: string): string {
  return showSafely(text).replaceAll(MARKUP, (found) =>
    Array.from(found, (one) => `\\${one}`).join(""),
  );
}

/** `claude-agent-acp on xiaomi/mimo-v2.6-flash`; a control has no model. */
export function nameSetting({ agent, model }: Pick<CardSetting, "agent" | "model">): string {
  const who = agent === "" ? "an unknown agent" : escapeMarkdown(agent);
  return model === null ? who : `${who} on ${escapeMarkdown(model)}`;
}

/** Names as a list of at most so many. */
export function listSome(names: readonly string[], most = 10): string {
  const shown = names.slice(0, most).map(escapeMarkdown).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** Up to ten blocks, one for each tenth. */
export function drawBar(rate: number): string {
  return "█".repeat(Math.round(rate * 10));
}

/** Trials that ended with an error and without a score. */
export function errorsOf({ counts }: CardGroup): number {
  return counts.errored + counts.verifier_errored;
}
