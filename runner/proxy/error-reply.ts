import type { ModelProtocol } from "../../core/model/exchange.ts";
import { anthropicErrorType, googleErrorState } from "../../core/providers/error-words.ts";

export interface ProxyError {
  readonly status: number;
  /** A word of ours for programs, for example `model_not_allowed`. */
  readonly code: string;
  readonly message: string;
}

/** An error of the proxy's own in the words of the agent's protocol. */
export function errorReply(protocol: ModelProtocol, error: ProxyError): Record<string, unknown> {
  const { status, code, message } = error;
  switch (protocol) {
    case "anthropic-messages": {
      const type = anthropicErrorType(status);
      return { type: "error", error: { type, message } };
    }
    case "gemini": {
      const state = googleErrorState(status) ?? "INTERNAL";
      return { error: { code: status, message, status: state } };
    }
    case "openai-completions":
    case "openai-responses": {
      const type = status >= 500 ? "server_error" : "invalid_request_error";
      return { error: { message, type, param: null, code } };
    }
  }
}

/** The same within a stream whose status 200 has gone out already; agents take it as a failed call. */
export function errorEvent(protocol: ModelProtocol, error: ProxyError): string {
  const body = errorReply(protocol, error);
  switch (protocol) {
    case "anthropic-messages":
      return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
    case "openai-responses": {
      // The kind of failure that codex reads; it passes over a bare `error`.
      const type = "response.failed";
      const { code, message } = error;
      const response = {
        object: "response",
        status: "failed",
        output: [],
        error: { code, message },
      };
      const event = { type, sequence_number: 0, response };
      return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
    }
    case "openai-completions":
    case "gemini":
      return `data: ${JSON.stringify(body)}\n\n`;
  }
}
