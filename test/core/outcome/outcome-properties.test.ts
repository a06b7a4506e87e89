import fc from "fast-check";
import { expect, test } from "vitest";
import {
  ErrorCategory,
  Limit,
  Outcome,
  Phase,
  VerifierErrorCategory,
} from "../../../core/model/outcome.ts";
import { decideOutcome } from "../../../core/outcome/decide-outcome.ts";
import type {
  AgentEnd,
  TrialEvidence,
  TrialStop,
  VerifierEvidence,
} from "../../../core/outcome/trial-evidence.ts";

const anyAgent: fc.Arbitrary<AgentEnd> = fc.oneof(
  fc.constantFrom<AgentEnd>({ kind: "not-started" }, { kind: "completed" }),
  fc.record({
    kind: fc.constant("limit" as const),
    limit: fc.constantFrom(...Limit.options),
    error: fc.constantFrom(null, { category: "timeout" as const, message: "m" }),
  }),
  fc.record({
    kind: fc.constant("error" as const),
    error: fc.record({ category: fc.constantFrom(...ErrorCategory.options), message: fc.string() }),
    exitCode: fc.option(fc.integer({ min: 0, max: 255 })),
  }),
);

const anyStop: fc.Arbitrary<TrialStop> = fc.oneof(
  fc.record({
    kind: fc.constant("sandbox" as const),
    failure: fc.constantFrom("build-failed", "lost", "unsafe-path", "unsupported", "disk-full"),
    message: fc.string(),
  }),
  fc.constantFrom<TrialStop>(
    { kind: "interrupted" },
    { kind: "host-suspended" },
    { kind: "budget", message: "m" },
    { kind: "anomaly", message: "m" },
    { kind: "models", error: { category: "api_error", message: "m" } },
    { kind: "circuit-open", message: "m" },
  ),
);

/** Of these what was graded is not the trial that was planned. */
const VOID: ReadonlySet<TrialStop["kind"]> = new Set([
  "budget",
  "anomaly",
  "circuit-open",
  "models",
  "host-suspended",
]);

const anyEvidence: fc.Arbitrary<TrialEvidence> = fc.record({
  agent: anyAgent,
  verifier: fc.oneof(
    fc.constant<VerifierEvidence>({ kind: "not-run" }),
    fc
      .constantFrom(...VerifierErrorCategory.options)
      .map((category): VerifierEvidence => ({ kind: "error", error: { category, message: "m" } })),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((reward) => ({
      kind: "rewards" as const,
      rewards: { reward },
    })),
  ),
  stop: fc.option(anyStop),
  phase: fc.option(fc.constantFrom(...Phase.options)),
  workspaceSaved: fc.boolean(),
  verifierFailures: fc.nat(5),
  verifierWorksOnNop: fc.option(fc.boolean()),
});

test("every evidence has an outcome of the schema, and only a verifier's reward makes it scored", () => {
  fc.assert(
    fc.property(anyEvidence, (evidence) => {
      const outcome = decideOutcome(evidence);
      expect(Outcome.parse(outcome)).toEqual(outcome);
      const rewards = evidence.verifier.kind === "rewards" ? evidence.verifier.rewards : null;
      const isScored = outcome.kind === "scored";
      expect(isScored && outcome.reward !== rewards?.reward).toBe(false);
      expect(isScored && outcome.passed !== (outcome.reward === 1)).toBe(false);
      expect("reward" in outcome).toBe(isScored);
      expect(!isScored && outcome.verifyOnly && !evidence.workspaceSaved).toBe(false);
      const isVoid = VOID.has(evidence.stop?.kind ?? "interrupted");
      expect(rewards !== null && !isVoid).toBe(isScored);
    }),
    { numRuns: 2000 },
  );
});
