import * as fc from "fast-check";
import { ErrorCategory, Limit, Phase, VerifierErrorCategory } from "../../../core/model/outcome.ts";
import type { Outcome, Rewards } from "../../../core/model/outcome.ts";
import type { TrialRecord } from "../../../core/model/record.ts";
import type { Isolation, Resources } from "../../../core/model/trial.ts";

const name = fc.string({ minLength: 1, maxLength: 20, unit: "binary" });
const text = fc.string({ maxLength: 60, unit: "binary" });
const count = fc.nat({ max: 5_000_000_000 });
const amount = fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => value + 0);
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const reward = fc.oneof(fc.constantFrom(0, 1), amount);
const metrics = fc.dictionary(
  fc
    .string({ minLength: 1, maxLength: 8 })
    .filter((key) => key !== "reward" && key !== "__proto__"),
  amount,
  { noNullPrototype: true },
);
const rewards: fc.Arbitrary<Rewards> = fc
  .tuple(reward, metrics)
  .map(([value, more]) => Object.assign({ reward: value }, more));

const unscored: fc.Arbitrary<Outcome> = fc.record({
  kind: fc.constant("unscored" as const),
  fault: fc.constantFrom("task", "agent", "infrastructure", "setup", "budget"),
  category: fc.constantFrom(
    ...ErrorCategory.options,
    ...VerifierErrorCategory.options,
    "budget_stopped" as const,
    "interrupted" as const,
    "no_verdict" as const,
    "circuit_open" as const,
    "host_suspended" as const,
  ),
  detail: text,
  phase: orNull(fc.constantFrom(...Phase.options)),
  verifyOnly: fc.boolean(),
  afterAgent: fc.boolean(),
});

const judgement = fc.oneof(
  fc
    .tuple(rewards, orNull(fc.constantFrom(...Limit.options)))
    .map(([map, limit]): Pick<TrialRecord, "outcome" | "rewards"> => {
      const outcome: Outcome = {
        kind: "scored",
        reward: map.reward,
        passed: map.reward === 1,
        limit,
      };
      return { outcome, rewards: map };
    }),
  fc.record({ outcome: unscored, rewards: orNull(rewards) }),
);

const stamp = fc
  .date({ min: new Date("2020-01-01"), max: new Date("2035-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());

const resources: fc.Arbitrary<Resources> = fc.record({
  cpus: amount,
  memory_mb: count,
  storage_mb: count,
  peak_memory_bytes: orNull(count),
  oom_kills: orNull(count),
  cpu_seconds: orNull(amount),
  disk_bytes: orNull(count),
});

const isolation: fc.Arbitrary<Isolation> = fc.record({
  backend: fc.constantFrom("local", "docker", "fargate", "e2b"),
  image: text,
  image_digest: orNull(text),
  platform: text,
  uid_separation: fc.boolean(),
  no_new_privs: fc.boolean(),
  network_agent: text,
  network_verifier: text,
  seccomp: text,
  notes: fc.array(text, { maxLength: 3 }),
  hardening: orNull(
    fc.record({
      integrity: fc.constantFrom("clean", "suspect", "partly watched", "not watched"),
      suspects: fc.array(text, { maxLength: 3 }),
      more_suspects: count,
      changed_configs: fc.array(text, { maxLength: 3 }),
      removed: count,
      not_done: fc.array(text, { maxLength: 3 }),
    }),
  ),
});

/** Any record the runner may hold, hostile texts included. */
export const arbitraryRecord: fc.Arbitrary<TrialRecord> = fc
  .tuple(
    judgement,
    fc.record({
      taskName: name,
      rolloutName: name,
      taskDigest: orNull(text),
      contextDigest: orNull(text),
      settingsDigest: orNull(text),
      attempt: orNull(fc.integer({ min: 1, max: 50 })),
      agent: text,
      agentName: text,
      model: orNull(text),
      error: orNull(
        fc.record({ category: fc.constantFrom(...ErrorCategory.options), message: text }),
      ),
      verifierError: orNull(
        fc.record({ category: fc.constantFrom(...VerifierErrorCategory.options), message: text }),
      ),
      toolCalls: count,
      skillInvocations: count,
      prompts: count,
      trajectory: orNull(fc.record({ steps: count, toolCallSteps: fc.constant(0) })),
      usage: fc.record({
        inputTokens: orNull(count),
        outputTokens: orNull(count),
        cacheReadTokens: orNull(count),
        cacheCreationTokens: orNull(count),
        totalTokens: orNull(count),
        costUsd: orNull(amount),
        usageSource: text,
        priceSource: orNull(text),
      }),
      startedAt: stamp,
      finishedAt: stamp,
      timing: fc.dictionary(fc.constantFrom("environment_setup", "verifier", "total"), amount, {
        noNullPrototype: true,
      }),
      spans: fc.array(
        fc.record({
          phase: fc.constantFrom(...Phase.options),
          startedAt: stamp,
          seconds: amount,
        }),
        { maxLength: 3 },
      ),
      resources: orNull(resources),
      isolation: orNull(isolation),
      verification: orNull(
        fc.record(
          {
            verify_only_from: orNull(name),
            refused: fc.boolean(),
            failures: count,
            works_on_nop: orNull(fc.boolean()),
            agent_end: fc.record({
              limit: orNull(fc.constantFrom(...Limit.options)),
              exit_code: orNull(fc.integer()),
              has_error: fc.boolean(),
            }),
          },
          { requiredKeys: ["verify_only_from", "refused", "failures", "works_on_nop"] },
        ),
      ),
      workspaceSaved: fc.boolean(),
      firstFailedTest: orNull(text),
    }),
  )
  .map(([judged, rest]) => Object.assign(rest, judged));
