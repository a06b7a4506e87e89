import { expect, test } from "vitest";
import type { Fault } from "../fakes/model-server/model-script.ts";
import { runAsking } from "./run-asking.ts";
import { aScene } from "./run-scene.ts";

const refusing = (after: number): Fault => ({
  kind: "status",
  on: "any",
  status: 401,
  headers: {},
  after,
  times: null,
});

test("trials whose key is refused before any answer came are stopped at once, tries of their agents included", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const scene = await aScene({ plays: Object.fromEntries(names.map((name) => [name, {}])) });
  const { server, outcomes, budget, refusal } = await runAsking(scene, {
    faults: [refusing(0)],
    calls: 8,
    over: { concurrency: 1, maxTokens: 1_000_000 },
  });
  expect(server.modelRequests()).toHaveLength(1);
  expect(outcomes.map((each) => each.kind === "unscored" && each.category)).toEqual([
    "provider_auth",
    ...Array<string>(5).fill("circuit_open"),
  ]);
  expect(outcomes[1]).toMatchObject({
    fault: "setup",
    detail: "skipped: api-error circuit breaker open ([auth:401] x1 consecutive)",
  });
  const host = new URL(server.origin).host;
  expect(refusal).toMatchObject({
    kind: "config",
    message: `${host} refused the key in XIAOMI_API_KEY (HTTP 401) before any request succeeded: the run is stopped`,
    next: `export XIAOMI_API_KEY with a key that ${host} accepts, then run the same command again`,
  });
  expect(budget?.spent).toMatchObject({ rollouts: 1, tokens: 0 });
  expect(budget?.held).toMatchObject({ tokens: 0, sandbox_seconds: 0 });
});

test("trials that run side by side when the key turns out to be refused end too, and are charged nothing", async () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const scene = await aScene({ plays: Object.fromEntries(names.map((name) => [name, {}])) });
  const { server, outcomes, budget } = await runAsking(scene, {
    faults: [refusing(0)],
    calls: 8,
    over: { concurrency: 4, maxTokens: 10_000_000 },
  });
  expect(server.modelRequests().length).toBeLessThanOrEqual(4);
  expect(outcomes).toHaveLength(8);
  const categories = outcomes.map((each) => each.kind === "unscored" && each.category);
  expect(new Set(categories)).toEqual(new Set(["provider_auth", "circuit_open"]));
  expect(budget?.spent.tokens).toBe(0);
  expect(budget?.held).toMatchObject({ tokens: 0, sandbox_seconds: 0 });
});

test("trials that had an answer before are not stopped by one 401: the breaker of trials in a row decides", async () => {
  const scene = await aScene({ plays: { a: {}, b: {}, c: {} } });
  const { server, outcomes, refusal } = await runAsking(scene, {
    faults: [refusing(1)],
    over: { concurrency: 1 },
  });
  expect(server.modelRequests()).toHaveLength(3);
  expect(outcomes).toMatchObject([
    { kind: "scored" },
    { category: "provider_auth" },
    { category: "provider_auth" },
  ]);
  expect(refusal).toBeNull();
});

test("trials that wait for the pot when one of them uses more than was reserved are told of that, not of a cap", async () => {
  const scene = await aScene({ plays: { a: {}, b: {} } });
  const usage = { prompt_tokens: 400_000, completion_tokens: 40, total_tokens: 400_040 };
  const { outcomes } = await runAsking(scene, {
    // The other trial's first answer comes late, when the run has been stopped.
    faults: [
      { kind: "wrong-usage", usage, on: "any", after: 0, times: 1 },
      { kind: "slow-first-byte", delayMs: 1_500, on: "any", after: 1, times: 1 },
    ],
    calls: 12,
    over: { concurrency: 2, maxTokens: 1_000_000 },
  });
  expect(outcomes.map((each) => each.kind === "unscored" && each.category)).toEqual([
    "usage_anomaly",
    "usage_anomaly",
  ]);
  const details = outcomes.map((each) => (each.kind === "unscored" ? each.detail : ""));
  for (const detail of details) expect(detail).toContain("above its reservation");
});
