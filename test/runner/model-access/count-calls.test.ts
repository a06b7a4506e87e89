import { expect, test } from "vitest";
import { NO_TOKENS } from "../../../core/model/usage-buckets.ts";
import { countCalls, usageOf } from "../../../runner/model-access/count-calls.ts";

const TOTALS = {
  requests: 1,
  refused: 0,
  incomplete: 0,
  inFlight: 0,
  anomalies: 0,
  heldMs: 0,
  tokens: { ...NO_TOKENS, input: 10 },
  costMicroUsd: 1500,
};

test("dollars that a price is known for are told, and unknown ones are null, never 0", () => {
  const calls = { ...countCalls([], TOTALS), cost_status: "priced" as const };
  expect(usageOf(calls, TOTALS.tokens).costUsd).toBe(0.0015);
  expect(usageOf({ ...calls, cost_micro_usd: null }, TOTALS.tokens).costUsd).toBeNull();
  expect(usageOf({ ...calls, cost_status: "unpriced" }, TOTALS.tokens).costUsd).toBeNull();
});
