import { expect, test } from "vitest";
import type { RewardRules } from "../../../core/outcome/validate-rewards.ts";
import vectors from "../../fixtures/reward-files.json" with { type: "json" };
import { parse } from "./parse-reward-files.ts";

/** The vectors shorten BenchFlow's errors to a class and a note; this is what ours says for each. */
function says(error: string): string {
  if (error.startsWith("RewardFileEmptyError")) return "Reward file is empty at v/reward.txt";
  if (error.startsWith("RewardFileNotFoundError"))
    return "No reward file found at v/reward.txt or v/reward.json";
  const note = error.replace("VerifierOutputParseError: ", "");
  if (note === "not finite or outside range")
    return "Reward text file v/reward.txt must contain a finite numeric reward between 0.0 and 1.0";
  if (note === "not a number") return "Failed to parse rewards from text file v/reward.txt";
  if (note === "invalid JSON")
    return "Failed to parse rewards from JSON file v/reward.json: 1:16: a key in double quotes is missing";
  if (note === "not an object") return "Reward JSON file v/reward.json must contain a JSON object";
  return note.startsWith("reward JSON") ? `Reward JSON file v/reward.json ${note}` : note;
}

/** Where docs/verifier.md says that ours differs: a key that stands twice voids the verdict. */
const DIFFERENT = new Map([
  [
    "duplicate key",
    "Failed to parse rewards from JSON file v/reward.json: 1:17: a key stands twice: 'reward'",
  ],
]);

for (const mode of ["strict", "lenient"] as const)
  test.each(vectors.map((vector) => [vector.name, vector] as const))(
    `${mode}: %s has the vectors' verdict`,
    (name, vector) => {
      const [low = 0, high = 1] = vector.reward_range ?? [0, 1];
      const rules: RewardRules = {
        range: [low, high],
        lenient: mode === "lenient",
        aggregatePolicy: null,
      };
      const parsed = parse(vector.reward_txt, vector.reward_json, rules);
      const theirs = vector[`benchflow_0_7_5_${mode}`];
      const refused = DIFFERENT.get(name) ?? ("error" in theirs ? says(theirs.error ?? "") : null);
      expect("ok" in parsed ? parsed.ok : parsed.message).toEqual(refused ?? theirs.rewards);
    },
  );

test("all 41 vectors are run", () => {
  expect(vectors).toHaveLength(41);
});
