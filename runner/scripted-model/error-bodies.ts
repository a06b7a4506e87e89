import type { ModelProtocol } from "../../core/model/exchange.ts";
import { newId } from "./scripted-reply.ts";

const ANTHROPIC_TYPES: ReadonlyMap<number, string> = new Map([
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

const OPENAI_CODES: ReadonlyMap<number, string> = new Map([
  [401, "invalid_api_key"],
  [402, "insufficient_quota"],
  [404, "model_not_found"],
  [429, "rate_limit_exceeded"],
]);

const GOOGLE_STATES: ReadonlyMap<number, string> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [429, "RESOURCE_EXHAUSTED"],
  [500, "INTERNAL"],
  [503, "UNAVAILABLE"],
]);

/** An error as the protocol's provider words it. */
export function errorBody(
  protocol: ModelProtocol,
  status: number,
  message: string,
): Record<string, unknown> {
  if (protocol === "anthropic-messages") {
    const type = ANTHROPIC_TYPES.get(status) ?? "api_error";
    return { type: "error", error: { type, message }, request_id: newId("req_") };
  }
  if (protocol === "gemini") {
    const state = GOOGLE_STATES.get(status) ?? "UNKNOWN";
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
