import {
  type ParsedRewards,
  parseRewards,
  type RewardFile,
} from "../../../core/outcome/parse-rewards.ts";
import type { RewardRules } from "../../../core/outcome/validate-rewards.ts";

/** The rules of a task that says nothing, and the same in lenient mode. */
export const UNIT: RewardRules = { range: [0, 1], lenient: false, aggregatePolicy: null };
export const LENIENT: RewardRules = { ...UNIT, lenient: true };
export const MISSING: RewardFile = { kind: "missing" };

/** A reward file with this content; null for none. */
export function bytes(content: string | Uint8Array | null): RewardFile {
  if (content === null) return MISSING;
  return {
    kind: "bytes",
    bytes: typeof content === "string" ? new TextEncoder().encode(content) : content,
  };
}

/** What two reward files give; a string is a file with this content. */
export function parse(
  text: RewardFile | string | null,
  json: RewardFile | string | null,
  rules: RewardRules = UNIT,
): ParsedRewards {
  return parseRewards(
    {
      text: typeof text === "object" && text !== null ? text : bytes(text),
      json: typeof json === "object" && json !== null ? json : bytes(json),
      textPath: "v/reward.txt",
      jsonPath: "v/reward.json",
    },
    rules,
  );
}
