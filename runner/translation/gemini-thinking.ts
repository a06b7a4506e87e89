import type { JsonRecord } from "../../core/usage/json-view.ts";
import type { Conversation } from "./conversation.ts";
import type { LeftOut } from "./left-out.ts";

/** Tokens of thought for a word of effort, for models before Gemini 3, which take no word. */
const BUDGETS: ReadonlyMap<string, number> = new Map([
  ["none", 0],
  ["minimal", 512],
  ["low", 2_048],
  ["medium", 8_192],
  ["high", 24_576],
]);

/** The words of Gemini 3; stronger ones of other protocols are its strongest. */
const LEVELS: ReadonlyMap<string, string> = new Map([
  ["none", "low"],
  ["minimal", "low"],
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["xhigh", "high"],
  ["max", "high"],
]);

/** How much to think, and that its summary is wanted; null where the agent asks for nothing. */
export function geminiThinking(
  { model, reasoning }: Conversation,
  leftOut: LeftOut,
): JsonRecord | null {
  const { effort, budgetTokens } = reasoning;
  if (effort === null && budgetTokens === null) return null;
  const isWordy = !/gemini-(?:1|2)(?:\.|-)/u.test(model);
  if (isWordy && effort !== null) {
    const level = LEVELS.get(effort);
    if (level === undefined) leftOut.add(`effort ${effort}`);
    return { includeThoughts: true, ...(level === undefined ? {} : { thinkingLevel: level }) };
  }
  const budget = budgetTokens ?? BUDGETS.get(effort ?? "") ?? BUDGETS.get("high");
  return { includeThoughts: true, thinkingBudget: budget };
}
