import { expect, test } from "vitest";
import { Unscored } from "../../../core/model/outcome.ts";
import { isRetryable } from "../../../core/outcome/retryable.ts";

function unscored(category: Unscored["category"]): Unscored {
  return Unscored.parse({
    kind: "unscored",
    fault: "infrastructure",
    category,
    detail: "",
    phase: null,
    verifyOnly: false,
    afterAgent: false,
  });
}

test("the categories that the contract retries are retried and no others of it", () => {
  const retried = Unscored.shape.category.options
    .flatMap((option) => option.options)
    .filter((category) => isRetryable(unscored(category)));
  expect(retried.toSorted()).toEqual(
    [
      "acp_error",
      "host_suspended",
      "idle_timeout",
      "infra_failure",
      "install_failure",
      "no_verdict",
      "pipe_closed",
      "sandbox_setup",
      "verifier_infra",
      "verifier_timeout",
    ].toSorted(),
  );
});

test("a provider's failure is retried only when it was of the passing kind", () => {
  expect(isRetryable(unscored("api_error"))).toBe(false);
  expect(isRetryable(unscored("api_error"), { transient: true })).toBe(true);
  expect(isRetryable(unscored("provider_auth"), { transient: true })).toBe(false);
});

test("an image that the task's own files do not give is not built again, a lost build is", () => {
  expect(isRetryable({ ...unscored("sandbox_setup"), fault: "task" })).toBe(false);
  expect(isRetryable({ ...unscored("sandbox_setup"), fault: "infrastructure" })).toBe(true);
});

test("a scored trial is never drawn again", () => {
  for (const reward of [0, 0.3, 1])
    expect(isRetryable({ kind: "scored", reward, passed: reward === 1, limit: "idle" })).toBe(
      false,
    );
});
