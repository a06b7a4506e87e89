import type { ModelProtocol } from "../../core/model/exchange.ts";
import { anthropicErrorType, googleErrorState } from "../../core/providers/error-words.ts";
import { newId } from "./scripted-reply.ts";

const OPENAI_CODES: ReadonlyMap<number, string> = new Map([
  [401, "invalid_api_key"],
  [402, "insufficient_quota"],
  [404, "model_not_found"],
  [429, "rate_limit_exceeded"],
]);

/** An error as the protocol's provider words it. */
export function errorBody(
  protocol: ModelProtocol,
  status: number,
  message: string,
): Record<string, unknown> {
  if (protocol === "anthropic-messages") {
    const type = anthropicErrorType(status);
    return { type: "error", error: { type, message }, request_id: newId("req_") };
  }
  if (protocol === "gemini") {
    const state = googleErrorState(status) ?? "UNKNOWN";
    return { error: { code: status, message, status: state } };
  }
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message, type, param: null, code: OPENAI_CODES.get(status) ?? null } };
}

/** A prompt that is too long, in the words that agents look for. */
export function contextOverflow(protocol: ModelProtocol): Record<string, unknown> {
  switch (protocol) {
    case "anthropic-messages":
      return errorBody(protocol, 400, "prompt is too long: 210000 tokens > 200000 maximum");
    case "gemini":
      return errorBody(
        protocol,
        400,
        "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
      );
    case "openai-completions":
    case "openai-responses":
      return {
        error: {
          message:
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
          type: "invalid_request_error",
          param: protocol === "openai-responses" ? "input" : "messages",
          code: "context_length_exceeded",
        },
      };
  }
}
