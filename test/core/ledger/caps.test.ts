import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { parseCaps, parseTrialCap } from "../../../core/ledger/caps.ts";

const none = { maxCostUsd: null, maxTokens: null, maxSandboxSeconds: null, maxRollouts: null };

describe("caps as they are typed", () => {
  test("become whole units, and none stays none", () => {
    expect(parseCaps(none)).toEqual({
      microUsd: null,
      tokens: null,
      sandboxMs: null,
      rollouts: null,
    });
    expect(
      parseCaps({ maxCostUsd: 0.29, maxTokens: 150, maxSandboxSeconds: 1.5, maxRollouts: 3 }),
    ).toEqual({ microUsd: 290_000, tokens: 150, sandboxMs: 1500, rollouts: 3 });
    expect(parseTrialCap(1.15)).toBe(1_150_000);
    expect(parseTrialCap(null)).toBeNull();
  });

  test("a cap of 0 is a cap (C-34)", () => {
    expect(parseCaps({ ...none, maxCostUsd: 0, maxRollouts: 0 })).toMatchObject({
      microUsd: 0,
      rollouts: 0,
    });
  });

  test.each([-1, -0.000_001, Number.NaN, Number.POSITIVE_INFINITY, 1e15])(
    "a cap of %s is a usage error that names the flag and the value (C-34)",
    (value) => {
      const caps = (): unknown => parseCaps({ ...none, maxCostUsd: value });
      expect(caps).toThrow(BenchError);
      expect(caps).toThrow(`--max-cost-usd ${String(value)}`);
    },
  );

  test("never grow by rounding, and every amount in micro-dollars is kept exactly", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), (microUsd) => {
        expect(parseTrialCap(microUsd / 1e6)).toBe(microUsd);
        expect(parseTrialCap((microUsd + 0.9) / 1e6)).toBe(microUsd);
      }),
    );
  });
});
