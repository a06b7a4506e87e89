import type { CallPurpose } from "../model/exchange.ts";
import type { RequestFacts } from "./request-facts.ts";

/**
 * How each side request begins, as read in the agents' own programs (notes/agents 4: claude 0.101,
 * codex-acp 2.6, opencode 1.18, qwen 0.24). Only beginnings count: a task whose prompt or files merely
 * contain such words is still the agent's main work.
 */
const SYSTEM_STARTS: readonly (readonly [string, CallPurpose])[] = [
  ["You are a title generator", "title"],
  ["Your task is to generate a very short title for a conversation", "title"],
  ["You are a security monitor for autonomous AI coding agents", "classifier"],
  ["You are a security classifier for an AI coding agent", "classifier"],
  ["You are now acting as the managed memory extraction subagent", "memory"],
  ["You are performing a managed memory dream", "memory"],
  ["You are selecting memories that will be useful", "memory"],
  ["You are saving one explicit durable memory", "memory"],
];
const USER_STARTS: readonly (readonly [string, CallPurpose])[] = [
  ["[SUGGESTION MODE: Suggest what the user might naturally type next", "suggestion"],
  ...SYSTEM_STARTS,
];

/** Why the agent asks. What is not known to be a side request is the main work. */
export function callPurpose(facts: RequestFacts): CallPurpose {
  const bySystem = startOf(facts.systemTexts, SYSTEM_STARTS);
  if (bySystem !== null) return bySystem;
  const byUser = startOf(facts.lastUserTexts, USER_STARTS);
  if (byUser === "suggestion" || (byUser !== null && facts.tools === 0)) return byUser;
  const [onlyKey, ...moreKeys] = facts.answerKeys ?? [];
  if (onlyKey === "title" && moreKeys.length === 0) return "title";
  return facts.tools === 0 && facts.outputLimit !== null && facts.outputLimit <= 1
    ? "probe"
    : "main";
}

function startOf(
  texts: readonly string[],
  starts: readonly (readonly [string, CallPurpose])[],
): CallPurpose | null {
  for (const text of texts) {
    const trimmed = text.trimStart();
    const known = starts.find(([start]) => trimmed.startsWith(start));
    if (known !== undefined) return known[1];
  }
  return null;
}
