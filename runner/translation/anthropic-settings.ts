import type { JsonRecord } from "../../core/usage/json-view.ts";
import { claudeModel } from "./claude-models.ts";
import type { Conversation } from "./conversation.ts";
import { leaveOutPenalties, type LeftOut } from "./left-out.ts";

/** Tokens of thought for a word of effort, for models that want a number; their least is 1024. */
const BUDGETS: ReadonlyMap<string, number> = new Map([
  ["low", 2_048],
  ["medium", 8_192],
  ["high", 16_384],
  ["xhigh", 24_576],
  ["max", 32_768],
]);
const MIN_BUDGET = 1_024;

/** Words of effort that mean: do not think. */
const NO_EFFORT = new Set(["none", "minimal"]);

interface Settings {
  readonly fields: JsonRecord;
  readonly outputConfig: JsonRecord;
}

/**
 * The limit, the sampling and the thinking of a request, as far as the model takes them together: what
 * it would refuse is left out and told.
 */
export function anthropicSettings(
  conversation: Conversation,
  defaults: { readonly maxTokens: number },
  leftOut: LeftOut,
): Settings {
  const { sampling } = conversation;
  const maxTokens = sampling.maxTokens ?? defaults.maxTokens;
  const thinking = thinkingOf(conversation, maxTokens, leftOut);
  const isThinking = Object.keys(thinking.fields).length > 0;
  leaveOutPenalties(sampling, leftOut);
  return {
    outputConfig: thinking.outputConfig,
    fields: {
      max_tokens: maxTokens,
      ...samplingOf(conversation, isThinking, leftOut),
      ...(sampling.stop.length === 0 ? {} : { stop_sequences: sampling.stop }),
      ...thinking.fields,
    },
  };
}

/** Temperature 1 is what it would be anyway; a model takes no other one together with `top_p`. */
function samplingOf(
  { model, sampling }: Conversation,
  isThinking: boolean,
  leftOut: LeftOut,
): JsonRecord {
  const { temperature, topP, topK } = sampling;
  const wanted = new Map<string, number>();
  if (temperature !== null && temperature !== 1) wanted.set("temperature", temperature);
  if (topP !== null && topP !== 1) wanted.set("top_p", topP);
  if (topK !== null) wanted.set("top_k", topK);
  const { isUnsampled } = claudeModel(model);
  const kept = [...wanted].filter(([name, value]) => {
    const isDoubled = name === "top_p" && wanted.has("temperature");
    // While it thinks it takes nothing but a `top_p` near 1.
    const isLost = isThinking && !(name === "top_p" && value >= 0.95);
    const isKept = !isUnsampled && !isDoubled && !isLost;
    if (!isKept) leftOut.add(name);
    return isKept;
  });
  return Object.fromEntries(kept);
}

/** Thinking, where the agent asks for an effort and nothing of the request forbids it. */
function thinkingOf(
  conversation: Conversation,
  maxTokens: number,
  leftOut: LeftOut,
): { readonly fields: JsonRecord; readonly outputConfig: JsonRecord } {
  const none = { fields: {}, outputConfig: {} };
  const { effort, budgetTokens } = conversation.reasoning;
  if ((effort === null && budgetTokens === null) || NO_EFFORT.has(effort ?? "")) return none;
  if (budgetTokens === 0) return none;
  const { toolChoice, model } = conversation;
  const isForced = toolChoice === "required" || typeof toolChoice === "object";
  if (claudeModel(model).isAdaptive && effort !== null && !isForced)
    return { fields: { thinking: { type: "adaptive" } }, outputConfig: { effort } };
  const wanted = budgetTokens ?? BUDGETS.get(effort ?? "") ?? MIN_BUDGET;
  const budget = Math.max(MIN_BUDGET, Math.min(wanted, maxTokens - MIN_BUDGET));
  if (isForced || maxTokens <= budget || !hasItsThoughts(conversation)) {
    leftOut.add("thinking");
    return none;
  }
  return {
    fields: { thinking: { type: "enabled", budget_tokens: budget } },
    outputConfig: {},
  };
}

/** A turn that called tools must come back with its thoughts; without them it cannot go on thinking. */
function hasItsThoughts({ turns }: Conversation): boolean {
  const last = turns.findLast(({ role }) => role === "assistant");
  if (last?.role !== "assistant" || turns.at(-1)?.role !== "tools") return true;
  return last.parts.some((part) => part.kind === "thought" && part.seal !== null);
}
