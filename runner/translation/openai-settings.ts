import type { Conversation } from "./conversation.ts";
import type { LeftOut } from "./left-out.ts";
import { openaiModel } from "./openai-models.ts";

/** Sampling and effort as far as the model takes them; what it would refuse is left out and told. */
export interface OpenaiSettings {
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly effort: string | null;
}

export function openaiSettings(
  { model, sampling, reasoning }: Conversation,
  leftOut: LeftOut,
): OpenaiSettings {
  const { takesEffort, isUnsampled } = openaiModel(model);
  if (sampling.topK !== null) leftOut.add("top_k");
  const sampled = (name: string, value: number | null): number | null => {
    // 1 is what it would be anyway.
    if (!isUnsampled || value === null) return value;
    if (value !== 1) leftOut.add(name);
    return null;
  };
  const { effort, budgetTokens } = reasoning;
  if (effort === null && budgetTokens !== null) leftOut.add("thinking budget");
  if (effort !== null && !takesEffort) leftOut.add("effort");
  // Anthropic's word for the most is one that OpenAI does not have.
  const word = effort === "max" ? "xhigh" : effort;
  return {
    temperature: sampled("temperature", sampling.temperature),
    topP: sampled("top_p", sampling.topP),
    effort: takesEffort ? word : null,
  };
}
