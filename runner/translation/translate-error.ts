import type { ModelProtocol } from "../../core/model/exchange.ts";
import { isRecord, parseJson, recordOf, textOf } from "../../core/usage/json-view.ts";

/** A provider's refusal, as far as every protocol can tell it. */
export interface ToldError {
  readonly code: string;
  readonly message: string;
}

const MAX_MESSAGE_CHARS = 4_000;

/** How providers say that a prompt is longer than the model's context. */
const OVERFLOW =
  /context_length_exceeded|prompt is too long|maximum context length|context window|exceeds the maximum number of tokens|input (?:length|token count)/iu;

/**
 * A provider's error body in the words of the agent's protocol, whose agents read a prompt that is too
 * long out of them: codex by the code, Claude Code and Gemini CLI by the message.
 */
export function translateError(
  protocol: ModelProtocol,
  { status, text }: { readonly status: number; readonly text: string },
): ToldError {
  const body = parseJson(text);
  // Gemini's streams tell their errors in a list.
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = recordOf(first)["error"] ?? first;
  const fields = recordOf(error);
  const said = textOf(fields["message"]) ?? textOf(fields["detail"]) ?? textOf(error);
  const plain = `the provider answered ${String(status)}`;
  const shown = said ?? (isRecord(first) ? JSON.stringify(first) : "");
  const message = shown === "" ? plain : shown.slice(0, MAX_MESSAGE_CHARS);
  const code = textOf(fields["code"]) ?? textOf(fields["type"]) ?? textOf(fields["status"]);
  const isOverflow =
    (status === 400 || status === 413) && OVERFLOW.test(`${code ?? ""} ${message}`);
  if (!isOverflow) return { code: code ?? `upstream_${String(status)}`, message };
  return { code: "context_length_exceeded", message: overflowMessage(protocol, message) };
}

function overflowMessage(protocol: ModelProtocol, message: string): string {
  switch (protocol) {
    case "anthropic-messages":
      return `prompt is too long: ${message}`;
    case "gemini":
      return `The input token count exceeds the maximum number of tokens allowed. ${message}`;
    case "openai-completions":
    case "openai-responses":
      return message;
  }
}
