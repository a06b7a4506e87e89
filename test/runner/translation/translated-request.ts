import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { recordOf } from "../../../core/usage/json-view.ts";
import { CallMemory } from "../../../runner/translation/call-memory.ts";
import { translateRequest } from "../../../runner/translation/translate-request.ts";
import type {
  TranslatedRequest,
  TranslationRefusal,
} from "../../../runner/translation/translate-request.ts";

export type Body = Record<string, unknown>;

interface Wish {
  readonly model?: string;
  readonly memory?: CallMemory;
  readonly outputLimitField?: string;
}

/** What becomes of a request of one protocol for a provider of another one. */
export function outcome(
  from: ModelProtocol,
  to: ModelProtocol,
  body: Body,
  wish: Wish = {},
): TranslatedRequest | TranslationRefusal {
  return translateRequest({
    from,
    to,
    body: from === "gemini" ? body : { model: wish.model ?? "m", ...body },
    path: { model: wish.model ?? "m", stream: true },
    memory: wish.memory ?? new CallMemory(),
    outputLimitField: wish.outputLimitField ?? "max_tokens",
    maxTokens: 32_000,
  });
}

export function translated(
  from: ModelProtocol,
  to: ModelProtocol,
  body: Body,
  wish: Wish = {},
): TranslatedRequest {
  const result = outcome(from, to, body, wish);
  if ("refused" in result) throw new Error(result.refused);
  return result;
}

/** Why it is refused; "" where it is not. */
export function refusal(from: ModelProtocol, to: ModelProtocol, body: Body): string {
  const result = outcome(from, to, body);
  return "refused" in result ? result.refused : "";
}

export function messagesOf({ body }: TranslatedRequest): unknown {
  return body["messages"] ?? body["contents"];
}

const FIXTURES = join(import.meta.dirname, "../../fixtures/translation");

/**
 * A request of the shape that a real agent sent (claude 2.1.318, codex 0.166, Gemini CLI 0.61), shortened,
 * or what it is in another protocol.
 */
export function recorded(name: string): Body {
  return { ...recordOf(JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), "utf8"))) };
}
