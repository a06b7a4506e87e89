import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../core/plan/canonical-json.ts";
import {
  CONTROL_FACTS,
  differingSettings,
  digestSettings,
  scoreSettings,
} from "../../../core/plan/settings-digest.ts";
import type { ScoreFacts } from "../../../core/plan/settings-digest.ts";
import type { RunSettingsInput } from "../../../core/model/settings.ts";
import { digestOfSettings, sha256, someSettings } from "./plan-builders.ts";

/** Every setting, with another value than the builder's, and whether it can change a score. */
const CHANGED: Record<keyof RunSettingsInput, [unknown, boolean]> = {
  tasksDir: ["other", false],
  include: [["a*"], false],
  exclude: [["b"], false],
  limit: [3, false],
  sampleSeed: [1, false],
  shuffleSeed: [1, false],
  strictTasks: [true, false],
  agent: ["nop", true],
  model: ["provider/model", true],
  // Paths: what stands in the files are facts of their own.
  agentFile: ["/elsewhere/agent.json", false],
  providerFile: ["/elsewhere/providers.json", false],
  modelScript: ["/elsewhere/solve.json", false],
  reasoningEffort: ["high", true],
  environment: ["docker", true],
  prompts: [["hurry"], true],
  extraInstructions: [["hurry"], true],
  // Counts by its marks, which stand in the facts.
  agentEnv: [{ MAX_THINKING_TOKENS: "0" }, false],
  skillMode: ["with-skill", true],
  // Counts by the digest of what lies in it.
  skillsDir: ["skills", false],
  sandboxUser: ["root", true],
  agentIdleTimeoutSec: [5, true],
  timeoutMultiplier: [2, true],
  lenientRewards: [true, true],
  localInclude: [["/opt/tool"], true],
  passEnv: [["HF_HOME"], true],
  withoutInternet: [true, true],
  baseImageMap: [{ "debian:12": "local/debian" }, true],
  concurrency: [9, false],
  buildConcurrency: [2, false],
  trials: [3, false],
  retryAttempts: [0, true],
  breakerThreshold: [0, false],
  maxCostUsd: [5, false],
  maxTokens: [5, false],
  maxSandboxSeconds: [5, false],
  maxRollouts: [5, false],
  maxCostPerTrialUsd: [5, true],
  maxOutputTokens: [5, true],
  prices: ["prices.json", false],
  jobsDir: ["elsewhere", false],
  jobName: ["nightly", false],
  fresh: [true, false],
  saveOutputs: [true, false],
  summaryOut: ["s.json", false],
  failUnder: [0.5, false],
  failOn: [["error"], false],
};

const digest = (facts: Partial<ScoreFacts>): string =>
  digestSettings(scoreSettings(someSettings(), { ...CONTROL_FACTS, ...facts }), sha256);

function cappedAt(maxCostPerTrialUsd: number | null) {
  return scoreSettings(someSettings({ maxCostPerTrialUsd }), CONTROL_FACTS);
}

describe("the settings digest", () => {
  test("changes with every setting that can change a score and with no other", () => {
    const base = digestOfSettings(someSettings());
    for (const [name, [value, changesScores]] of Object.entries(CHANGED)) {
      const other = digestOfSettings(someSettings({ [name]: value }));
      expect([name, other !== base]).toEqual([name, changesScores]);
    }
  });

  test("changes with the agent's versions, skills and variables", () => {
    const digests = [
      digest({}),
      digest({ agentVersions: { "claude-code": "2.1.280" } }),
      digest({ agentVersions: { "claude-code": "2.1.281" } }),
      digest({ skills: ["sha256:1"] }),
      digest({ agentEnv: { MAX_THINKING_TOKENS: "sha256:1" } }),
      digest({ agentEnv: { MAX_THINKING_TOKENS: "sha256:2" } }),
      digest({ modelRoute: "gateway.example/v1" }),
      digest({ modelScript: "sha256:1" }),
      digest({ agentFile: "sha256:1" }),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  test("C-20: tells runs apart whose trials have caps of their own that differ", () => {
    const name = "max_cost_per_trial_usd";
    expect(differingSettings(cappedAt(null), cappedAt(1))).toEqual([`${name}: null -> 1`]);
    expect(differingSettings(cappedAt(1), cappedAt(2))).toEqual([`${name}: 1 -> 2`]);
  });

  test("tells a prompt in the task's place from one behind it", () => {
    const [replaced, followed] = [{ prompts: ["a"] }, { extraInstructions: ["a"] }].map((wish) =>
      digestOfSettings(someSettings(wish)),
    );
    expect(replaced).not.toBe(followed);
  });

  test("is the sha256 of canonical JSON, the same on every machine and version", () => {
    const canonical =
      '{"agent":"oracle","agent_idle_timeout_sec":600,"agent_versions":{},"base_image_map":{},' +
      '"default_agent_timeout_sec":900,"environment":"local","lenient_rewards":false,' +
      '"local_include":[],"model":null,"pass_env":[],"prompts":[],"reasoning_effort":null,' +
      '"resource_limits":"as-declared","retry_attempts":2,"sandbox_user":"agent",' +
      '"scoring_revision":1,"skills":[],"timeout_multiplier":1}';
    expect(digestOfSettings(someSettings())).toBe(`sha256:${sha256(canonical)}`);
    expect(digestOfSettings(someSettings())).toMatch(/^sha256:52b6da611cc1a733/u);
  });

  test("does not depend on the order in which variables and folders were named", () => {
    const one = someSettings({ passEnv: ["A", "B"], localInclude: ["/a", "/b"] });
    const two = someSettings({ passEnv: ["B", "A", "A"], localInclude: ["/b", "/a"] });
    expect(digestOfSettings(one)).toBe(digestOfSettings(two));
  });
});

test("differing settings are named with both values, in order of name", () => {
  const facts = CONTROL_FACTS;
  const before = scoreSettings(someSettings({ agent: "nop", model: "a/b" }), facts);
  const now = scoreSettings(someSettings({ timeoutMultiplier: 2 }), facts);
  expect(differingSettings(before, now)).toEqual([
    'agent: "nop" -> "oracle"',
    'model: "a/b" -> null',
    "timeout_multiplier: 1 -> 2",
  ]);
  expect(differingSettings(now, now)).toEqual([]);
});

test("canonical JSON is the same for equal values and parses back to them", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.parse(JSON.stringify(value));
      expect(JSON.parse(canonicalJson(json))).toEqual(json);
      const reversed = reverseKeys(json);
      expect(canonicalJson(reversed)).toBe(canonicalJson(json));
    }),
  );
  expect(() => canonicalJson(Number.NaN)).toThrow("no JSON number");
});

function reverseKeys(value: ReturnType<typeof JSON.parse>): ReturnType<typeof JSON.parse> {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reverseKeys(member)]),
  );
}
