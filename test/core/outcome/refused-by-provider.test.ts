import { expect, test } from "vitest";
import { ErrorCategory, Unscored } from "../../../core/model/outcome.ts";
import { isRefusedByProvider } from "../../../core/outcome/refused-by-provider.ts";

function ending(category: ErrorCategory, transient = false) {
  const outcome = Unscored.parse({
    kind: "unscored",
    fault: "setup",
    category,
    detail: "",
    phase: null,
    verifyOnly: false,
    afterAgent: false,
  });
  return { outcome, error: { category, message: "", ...(transient ? { transient } : {}) } };
}

test("C-18: a refused key and an empty account are refusals, an outage and a rate limit are none", () => {
  expect(isRefusedByProvider(ending("provider_auth"))).toBe(true);
  expect(isRefusedByProvider(ending("api_error"))).toBe(true);
  expect(isRefusedByProvider(ending("api_error", true))).toBe(false);
  const others = ErrorCategory.options.filter(
    (each) => !/^(?:provider_auth|api_error)$/u.test(each),
  );
  expect(others.filter((each) => isRefusedByProvider(ending(each)))).toEqual([]);
  const scored = { kind: "scored", reward: 1, passed: true, limit: null } as const;
  expect(isRefusedByProvider({ outcome: scored, error: ending("api_error").error })).toBe(false);
});
