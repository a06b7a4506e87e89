import { expect, test } from "vitest";
import { KeyWatch } from "../../../runner/model-access/key-watch.ts";

function watch(statuses: readonly (number | null)[], threshold = 5): KeyWatch {
  const keys = new KeyWatch(threshold);
  for (const status of statuses) keys.note({ upstream_status: status });
  return keys;
}

test("a first 401 stops every trial, in the contract's words", () => {
  const { refused } = watch([null, 429, 503, 401]);
  expect(refused.aborted).toBe(true);
  expect(refused.reason).toBe("api-error circuit breaker open ([auth:401] x1 consecutive)");
});

test("nothing else does: no other refusal, no 401 once an answer came, none with the breaker off", () => {
  expect(watch([400, 402, 403, 404, 500]).refused.aborted).toBe(false);
  expect(watch([200, 401, 401]).refused.aborted).toBe(false);
  expect(watch([401], 0).refused.aborted).toBe(false);
});
