import type { ModelProtocol } from "../../core/model/exchange.ts";

/** Protocols in which a provider can be asked by agents of every other one. */
export type SpokenProtocol = Exclude<ModelProtocol, "openai-responses">;

/**
 * Whether agents of other protocols can be served by a provider of this one. Responses is none: every
 * provider that serves it serves Chat Completions too.
 */
export function isSpoken(protocol: ModelProtocol): protocol is SpokenProtocol {
  return protocol !== "openai-responses";
}
