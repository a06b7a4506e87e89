import type { CardTrial, RunCard } from "../model/run-card.ts";

const COLUMNS = [
  "path",
  "task_name",
  "repeat",
  "attempt",
  "attempts",
  "reward",
  "class",
  "model_outcome",
  "stop_reason",
  "limit",
  "fault",
  "category",
  "seconds",
  "total_tokens",
  "cost_usd",
] as const satisfies readonly (keyof CardTrial)[];

/**
 * A row a trial that counts, after the setting that it is of (its number in the card, from 1, its agent
 * and its model): CSV as RFC 4180 has it. What is unknown is empty. A text that a spreadsheet would
 * take for a formula gets an apostrophe before it.
 */
export function renderReportCsv(card: RunCard): string {
  const header = ["setting", "agent", "model", ...COLUMNS];
  const rows = card.groups.flatMap(({ setting, trials }, index) =>
    trials.map((trial) => [
      index + 1,
      setting.agent,
      setting.model,
      ...COLUMNS.map((column) => trial[column]),
    ]),
  );
  return [header, ...rows].map((row) => `${row.map(renderCell).join(",")}\r\n`).join("");
}

function renderCell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
