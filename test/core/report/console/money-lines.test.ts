import { describe, expect, test } from "vitest";
import { amountOf } from "../../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../../core/ledger/caps.ts";
import { forecastMoney, type MoneyQuestion } from "../../../../core/ledger/forecast-money.ts";
import { RunMoney } from "../../../../core/model/run-money.ts";
import { renderMoney } from "../../../../core/report/console/money-lines.ts";
import { parsePriceFile } from "../../../../core/usage/price-file.ts";
import { aShard, aView } from "../../ledger/ledger-builders.ts";

const NAME = "xiaomi/mimo";
const PRICES = { version: 1, source: "https://example.com", date: "2026-11-30" };
const table = parsePriceFile(
  JSON.stringify({ ...PRICES, prices: { [NAME]: { input: 0.1, output: 0.3 } } }),
  "mine.json",
);
const card = table.find({ provider: "xiaomi", model: "mimo", at: new Date() });

const LEAST = { microUsd: 12_800, tokens: 64_000, sandboxMs: 190_000, rollouts: 1 };
const QUESTION: MoneyQuestion = {
  caps: NO_CAPS,
  trialCap: null,
  pot: null,
  uncountedJob: null,
  model: { name: NAME, card },
  least: LEAST,
};

function linesOf(over: Partial<MoneyQuestion>): string[] {
  const money = forecastMoney({ ...QUESTION, ...over });
  expect(RunMoney.parse(money)).toEqual(money);
  return renderMoney(money);
}

describe("a dry run says of money", () => {
  test("that nothing bounds a run without caps, and what it needs to start", () => {
    expect(linesOf({})).toEqual([
      "Caps: none for the command: it may spend any amount",
      "Pot: a new one, nothing spent",
      "Price of xiaomi/mimo: $0.1 in, $0.3 out per million tokens (file:mine.json, 2026-11-30)",
      "One trial: starts with $0.0128; at most any amount of dollars (--max-cost-per-trial sets a limit)",
    ]);
  });

  test("which pot the command goes on with, what is spent there, and what is left for one trial", () => {
    const settled = amountOf({ microUsd: 3_200_000, tokens: 12_345, sandboxMs: 90_000 });
    const unknown = { usd: 2, tokens: 0 };
    const view = aView([aShard({ settled, unknown })], { microUsd: 5_000_000 });
    const pot = { name: "p-1", ofJob: "jobs/2026", view };
    const caps = { ...NO_CAPS, microUsd: 20_000_000, tokens: 1_000_000 };
    const lines = linesOf({ caps, pot });
    expect(lines[0]).toBe("Caps: $20.00, 1,000,000 tokens for the command");
    expect(lines[1]).toBe(
      "Pot: that of job jobs/2026: $3.20 and 12,345 tokens spent, 1m 30s of sandboxes, 0 attempts, 2 of unknown cost; $16.80 left",
    );
    expect(lines[3]).toBe(
      "One trial: starts with $0.0128; at most $16.80 (--max-cost-usd), 987,655 tokens",
    );
    // What is spent under another cap counts under a new one.
    expect(linesOf({ caps: { ...caps, microUsd: 3_000_000 }, pot })[3]).toContain("at most $0.00");
  });

  test("the trial's own cap, where it is the lower one", () => {
    const caps = { ...NO_CAPS, microUsd: 20_000_000 };
    expect(linesOf({ caps, trialCap: 500_000 })[0]).toBe(
      "Caps: $20.00 for the command; $0.50 a trial",
    );
    expect(linesOf({ caps, trialCap: 500_000 }).at(-1)).toContain(
      "at most $0.50 (--max-cost-per-trial)",
    );
    expect(linesOf({ caps, trialCap: 50_000_000 }).at(-1)).toContain(
      "at most $20.00 (--max-cost-usd)",
    );
  });

  test("a limit alone, where nothing tells which cap it comes from", () => {
    const money = forecastMoney({ ...QUESTION, trialCap: 500_000 });
    const trial = money.trial && { ...money.trial, limited_by: null };
    expect(renderMoney({ ...money, trial }).at(-1)).toMatch(/at most \$0\.50$/u);
  });

  test("that a price is unknown, never that it is 0", () => {
    const lines = linesOf({
      caps: { ...NO_CAPS, tokens: 500_000 },
      model: { name: NAME, card: null },
    });
    expect(lines.slice(2)).toEqual([
      "Price of xiaomi/mimo: unknown, so its cost will not be known (--prices FILE gives one)",
      "One trial: starts with 64,000 tokens; at most an unknown amount of dollars, 500,000 tokens",
    ]);
    const money = forecastMoney({ ...QUESTION, model: { name: NAME, card: null } });
    expect(money.prices[0]).toEqual({
      model: NAME,
      source: null,
      date: null,
      usd_per_million: null,
    });
    expect(money.trial?.starts_with.cost_usd).toBeNull();
  });

  test("what a job has spent that nobody knows any more, and of a control its caps alone", () => {
    expect(linesOf({ uncountedJob: "jobs/2026" })[1]).toBe(
      "Pot: a new one: what job jobs/2026 has spent is not known",
    );
    expect(linesOf({ model: null, caps: { ...NO_CAPS, rollouts: 2 } })).toEqual([
      "Caps: 2 rollouts for the command",
      "Pot: a new one, nothing spent",
    ]);
  });
});
