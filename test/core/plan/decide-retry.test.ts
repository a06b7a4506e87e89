import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { afterTrial, breakerMessage, closedBreaker } from "../../../core/plan/circuit-breaker.ts";
import type { BreakerState } from "../../../core/plan/circuit-breaker.ts";
import type { Outcome } from "../../../core/model/outcome.ts";
import { decideRetry, retryDelayMs } from "../../../core/plan/decide-retry.ts";
import { scored, unscored } from "./plan-builders.ts";

const base = { attemptsMade: 1, retryAttempts: 2, workspaceSaved: false };

describe("a retry", () => {
  test("is never made of a scored trial, whatever its reward", () => {
    for (const reward of [0, 0.5, 1]) {
      expect(decideRetry({ ...base, outcome: scored(reward) })).toEqual({
        retry: false,
        why: "scored",
      });
    }
  });

  test("comes after 2 s, then after 4 s, then no more with the default of 2", () => {
    const outcome = unscored();
    expect(decideRetry({ ...base, outcome })).toMatchObject({ retry: true, delayMs: 2000 });
    expect(decideRetry({ ...base, outcome, attemptsMade: 2 })).toMatchObject({ delayMs: 4000 });
    expect(decideRetry({ ...base, outcome, attemptsMade: 3 })).toEqual({
      retry: false,
      why: "infra_failure in the last of 3 attempts",
    });
    expect(decideRetry({ ...base, outcome, retryAttempts: 0 })).toMatchObject({ retry: false });
  });

  test("waits longer each time, never more than 30 s", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (made) => {
        expect(retryDelayMs(made)).toBeLessThanOrEqual(30_000);
        expect(retryDelayMs(made + 1)).toBeGreaterThanOrEqual(retryDelayMs(made));
      }),
    );
  });

  test("of a permanent failure is not made; of a passing one of the provider it is", () => {
    const auth = unscored({ category: "provider_auth", fault: "setup" });
    expect(decideRetry({ ...base, outcome: auth })).toEqual({
      retry: false,
      why: "provider_auth is not retried",
    });
    const outcome = unscored({ category: "api_error" });
    expect(decideRetry({ ...base, outcome }).retry).toBe(false);
    expect(decideRetry({ ...base, outcome, transient: true }).retry).toBe(true);
  });

  test("only runs the verifier again where the agent's work is saved", () => {
    const outcome = unscored({ category: "verifier_timeout", fault: "task", verifyOnly: true });
    expect(decideRetry({ ...base, outcome })).toMatchObject({ retry: true, verifyOnly: false });
    expect(decideRetry({ ...base, outcome, workspaceSaved: true })).toMatchObject({
      verifyOnly: true,
    });
  });
});

const after = (outcomes: readonly Outcome[], threshold = 5): BreakerState =>
  outcomes.reduce((state, outcome) => afterTrial(state, outcome), closedBreaker(threshold));
const times = (count: number, outcome: Outcome): Outcome[] => Array(count).fill(outcome);

describe("the circuit breaker", () => {
  const auth = unscored({ category: "provider_auth", fault: "setup" });

  test("opens at five like permanent failures in a row, and says which", () => {
    expect(after(times(4, auth)).isOpen).toBe(false);
    const open = after(times(5, auth));
    expect(open.isOpen).toBe(true);
    expect(breakerMessage(open)).toBe(
      "skipped: api-error circuit breaker open ([auth] x5 consecutive)",
    );
  });

  test("counts again after any other ending", () => {
    const rejected = unscored({ category: "provider_rejected", fault: "agent" });
    for (const other of [scored(0), unscored(), rejected, unscored({ category: "timeout" })]) {
      expect(after([...times(4, auth), other, ...times(4, auth)]).isOpen).toBe(false);
    }
  });

  test("never opens for what tasks, verifiers or machines did", () => {
    for (const category of ["verifier_failure", "infra_failure", "other", "timeout"] as const) {
      expect(after(times(50, unscored({ category }))).isOpen).toBe(false);
    }
  });

  test("does not count a provider's failure of the passing kind", () => {
    const outcome = unscored({ category: "api_error" });
    const state = times(9, outcome).reduce<BreakerState>(
      (before, each) => afterTrial(before, each, { transient: true }),
      closedBreaker(5),
    );
    expect(state.isOpen).toBe(false);
    expect(after(times(5, outcome)).isOpen).toBe(true);
  });

  test("stays open whatever still ends well, and never opens at threshold 0", () => {
    expect(after([...times(5, auth), scored(1)]).isOpen).toBe(true);
    expect(after(times(50, auth), 0).isOpen).toBe(false);
  });
});
