import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { describe, expect, test } from "vitest";
import { readModelJob } from "../e2e/model-run.ts";
import { scratchDir } from "../e2e/run-bench.ts";
import { startModelServer } from "../fakes/model-server/start-model-server.ts";
import { AGENT_MODELS, CI_AGENTS, IS_SOAK, runTasks, writeSceneTask } from "./trial-scene.ts";

const AGENTS = IS_SOAK ? AGENT_MODELS : CI_AGENTS;
const atOnce = pLimit(2);

/** So long that every agent's request could cost more than any answer here does. */
const PROMPT = `Count to twelve, a step at a time.\n${"Think of every step. ".repeat(3_000)}\n`;
const TOKENS = { input: 40_000, output: 40 } as const;
const RATES = { input: 1, output: 5 } as const;
const USAGE = { ...TOKENS, cacheRead: 0, cacheWrite5m: 0, reasoning: 0 } as const;
const CALL_MICRO_USD = TOKENS.input * RATES.input + TOKENS.output * RATES.output;
/** Pays for some of the twelve steps of every agent, and for no agent's twelve. */
const CAP_MICRO_USD = 251_003;

const MAX_OUTPUT_TOKENS = 1_000;
/** What a bound adds to a body's bytes, and the proxy to the body. */
const SPARE_TOKENS = 4_096;

const TURN = { usage: USAGE };
const STEPS = Array.from({ length: 12 }, (_, step) => ({ ...TURN, shell: `echo ${String(step)}` }));

describe.concurrent("a cap that falls in the middle of the work", () => {
  test.for(AGENTS)(
    "stops $agent with one refused request, spends no micro-dollar more, and asks nothing after it",
    { timeout: 900_000 },
    async (agent) => {
      await atOnce(async () => {
        await using scratch = await scratchDir();
        const server = await startModelServer({
          turns: [...STEPS, { ...TURN, text: "Twelve." }],
          side: { ...TURN, text: "A title" },
        });
        const dir = scratch.path;
        const prices = join(dir, "prices.json");
        const known = Object.fromEntries(AGENT_MODELS.map(({ model }) => [model, RATES]));
        const source = { version: 1, source: "https://example.com", date: "2026-11-30" };
        await writeFile(prices, JSON.stringify({ ...source, prices: known }));
        await writeSceneTask(dir, { prompt: PROMPT });
        const over = {
          maxCostUsd: CAP_MICRO_USD / 1e6,
          maxOutputTokens: MAX_OUTPUT_TOKENS,
          prices,
        };
        try {
          await runTasks({ ...agent, dir, origin: server.origin, over });
        } finally {
          await server.close();
        }
        const { trials, summary } = await readModelJob(join(dir, "jobs"));
        expect(trials.map(({ result }) => result.outcome)).toMatchObject([
          { kind: "unscored", fault: "budget", category: "budget_stopped" },
        ]);
        const rows = trials.flatMap((trial) => trial.rows);
        const refused = rows.filter(({ end }) => end === "refused");
        expect(refused).toMatchObject([{ purpose: "main", refusal: "budget", upstream_tries: 0 }]);
        expect(rows.at(-1)).toEqual(refused[0]);
        const paid = rows.filter(({ end }) => end === "answered");
        expect(paid.length).toBeGreaterThan(1);
        expect(rows).toHaveLength(paid.length + 1);
        // The provider saw what was paid for, and nothing else.
        expect(server.modelRequests()).toHaveLength(paid.length);
        expect(server.journal.filter(({ protocol }) => protocol === null)).toEqual([]);
        const spent = paid.length * CALL_MICRO_USD;
        expect(spent).toBeLessThanOrEqual(CAP_MICRO_USD);
        const { budget } = summary;
        expect(Math.round(budget.spent.cost_usd * 1e6)).toBe(spent);
        expect(budget.held).toMatchObject({ cost_usd: 0 });
        // It was refused for want of its worst case, not because nothing was left.
        const worst = (refused[0]?.request_bytes ?? 0) + SPARE_TOKENS;
        const left = CAP_MICRO_USD - spent;
        expect(left).toBeLessThan(worst * RATES.input + MAX_OUTPUT_TOKENS * RATES.output);
      });
    },
  );
});
