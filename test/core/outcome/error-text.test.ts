import { expect, test } from "vitest";
import {
  agentIdleText,
  agentWallClockText,
  circuitOpenText,
  noRewardText,
  verifierCrashed,
  verifierTimedOut,
} from "../../../core/outcome/error-text.ts";

test("the texts are the contract's, character for character", () => {
  expect(agentWallClockText(900)).toBe("Agent prompt exceeded wall-clock budget 900s");
  expect(agentIdleText(600)).toMatch(/^Agent idle for 600s .* no tool call running$/u);
  expect(agentIdleText(600, true)).toMatch(
    /^Agent idle for 600s .* a tool call that never ended$/u,
  );
  expect(verifierTimedOut(600)).toEqual({
    category: "verifier_timeout",
    message: "verifier timed out after 600.0s",
  });
  expect(
    verifierCrashed("verifier_failure", noRewardText(3, "a/reward.txt", "a/reward.json")),
  ).toEqual({
    category: "verifier_failure",
    message:
      "verifier crashed: verifier exited with rc=3; no reward file found at a/reward.txt or a/reward.json",
  });
  expect(noRewardText(0, "A", "B")).toBe("No reward file found at A or B");
  expect(circuitOpenText("auth:401", 5)).toBe(
    "skipped: api-error circuit breaker open ([auth:401] x5 consecutive)",
  );
});
