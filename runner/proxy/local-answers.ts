import type { ModelProtocol } from "../../core/model/exchange.ts";

/** Bytes per token for a count that nobody bills. */
const BYTES_PER_TOKEN = 4;

/** A token count made here: the provider's would cost a round trip and tell the agent little more. */
export function countTokensAnswer(
  protocol: ModelProtocol,
  bodyBytes: number,
): Record<string, unknown> {
  const tokens = Math.ceil(bodyBytes / BYTES_PER_TOKEN);
  if (protocol === "gemini") return { totalTokens: tokens };
  if (protocol === "openai-responses")
    return { object: "response.input_tokens", input_tokens: tokens };
  return { input_tokens: tokens };
}

/** The models that this trial may use, in a shape that clients of all three vendors read. */
export function modelsAnswer(
  protocol: ModelProtocol,
  models: readonly string[],
): Record<string, unknown> {
  if (protocol === "gemini") return { models: models.map(googleModel) };
  const data = models.map(listedModel);
  return { object: "list", data, has_more: false, first_id: models[0], last_id: models.at(-1) };
}

/** One of them; null when it is none of them. */
export function modelAnswer(
  protocol: ModelProtocol,
  models: readonly string[],
  asked: string,
): Record<string, unknown> | null {
  if (!models.includes(asked)) return null;
  return protocol === "gemini" ? googleModel(asked) : listedModel(asked);
}

function listedModel(id: string): Record<string, unknown> {
  return {
    id,
    object: "model",
    type: "model",
    display_name: id,
    created: 0,
    created_at: "1970-01-01T00:00:00Z",
    owned_by: "benchflow",
  };
}

function googleModel(id: string): Record<string, unknown> {
  return {
    name: `models/${id}`,
    displayName: id,
    version: "1",
    supportedGenerationMethods: ["generateContent", "countTokens"],
  };
}
