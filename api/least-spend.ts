import type { Amount } from "../core/model/ledger-amount.ts";
import type { RunSettings } from "../core/model/settings.ts";
import { priceBound } from "../core/usage/price-tokens.ts";
import { SANDBOX_RESERVE_MS } from "../runner/spend/sandbox-meter.ts";
import type { RunModels } from "./run-models.ts";

/**
 * An agent's first prompts are 5 to 80 kB, and a token stands for at least a byte. What trials really
 * need is learnt from those that have ended; too much here would strand the end of a small cap.
 */
const FIRST_PROMPT_TOKENS = 32_000;
/** What agents ask for where nobody limits their answers. */
const USUAL_OUTPUT_TOKENS = 32_000;

/** The least that a trial can begin to work with: one call of its model, and its sandbox's first slice. */
export function leastSpend(settings: RunSettings, models: RunModels | null, at: Date): Amount {
  const sandbox = { sandboxMs: SANDBOX_RESERVE_MS, rollouts: 1 };
  if (models === null) return { microUsd: 0, tokens: 0, ...sandbox };
  const { provider, model } = models.resolved;
  const card = models.prices.find({ provider, model, at });
  const output = settings.maxOutputTokens ?? card?.maxOutputTokens ?? USUAL_OUTPUT_TOKENS;
  const input = Math.min(FIRST_PROMPT_TOKENS, card?.contextTokens ?? FIRST_PROMPT_TOKENS);
  const microUsd = card === null ? 0 : priceBound(card, { input, output });
  return { microUsd, tokens: input + output, ...sandbox };
}
