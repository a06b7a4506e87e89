import type { ModelProtocol } from "../../core/model/exchange.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import type { CallMemory } from "./call-memory.ts";
import { Untranslatable } from "./conversation.ts";
import type { Conversation } from "./conversation.ts";
import { LeftOut } from "./left-out.ts";
import { readAnthropicRequest } from "./read-anthropic-request.ts";
import { readCompletionsRequest } from "./read-completions-request.ts";
import { readGeminiRequest } from "./read-gemini-request.ts";
import { readResponsesRequest } from "./read-responses-request.ts";
import type { KnownTool } from "./responses-tools.ts";
import { writeAnthropicRequest } from "./write-anthropic-request.ts";
import { writeCompletionsRequest } from "./write-completions-request.ts";
import { writeGeminiRequest } from "./write-gemini-request.ts";
import { writeResponsesRequest } from "./write-responses-request.ts";

/** A request on its way into another protocol. */
export interface RequestTranslation {
  readonly from: ModelProtocol;
  readonly to: ModelProtocol;
  /** As it would go upstream in the agent's protocol, under the provider's name for the model. */
  readonly body: JsonRecord;
  /** What stands in the path, or would: the provider's name for the model, and whether it streams. */
  readonly path: { readonly model: string; readonly stream: boolean };
  readonly memory: CallMemory;
  readonly outputLimitField: string;
  /** Sent where the provider's protocol wants a limit and the agent names none. */
  readonly maxTokens: number;
}

export interface TranslatedRequest {
  readonly body: JsonRecord;
  /** How the agent knows its tools, by the names that were sent. */
  readonly tools: ReadonlyMap<string, KnownTool>;
  /** What the provider's protocol has no words for. */
  readonly leftOut: readonly string[];
}

/** What a provider's protocol cannot carry at all, in words for the agent. */
export interface TranslationRefusal {
  readonly refused: string;
}

/** A request in the provider's protocol, or why it cannot be one. */
export function translateRequest(
  translation: RequestTranslation,
): TranslatedRequest | TranslationRefusal {
  const leftOut = new LeftOut();
  try {
    const { conversation, tools } = readRequest(translation, leftOut);
    const restored = translation.memory.restore(conversation);
    const body = writeRequest(restored, translation, leftOut);
    return { body, tools, leftOut: leftOut.names() };
  } catch (thrown) {
    if (!(thrown instanceof Untranslatable)) throw thrown;
    return { refused: `${thrown.message} cannot be put into ${translation.to}` };
  }
}

function readRequest(
  { from, body, path }: RequestTranslation,
  leftOut: LeftOut,
): { readonly conversation: Conversation; readonly tools: ReadonlyMap<string, KnownTool> } {
  const tools = new Map<string, KnownTool>();
  switch (from) {
    case "anthropic-messages":
      return { conversation: readAnthropicRequest(body, leftOut), tools };
    case "openai-completions":
      return { conversation: readCompletionsRequest(body, leftOut), tools };
    case "gemini":
      return { conversation: readGeminiRequest(body, path, leftOut), tools };
    case "openai-responses": {
      const read = readResponsesRequest(body, leftOut);
      return { conversation: read.conversation, tools: read.tools.known };
    }
  }
}

function writeRequest(
  conversation: Conversation,
  { to, outputLimitField, maxTokens }: RequestTranslation,
  leftOut: LeftOut,
): JsonRecord {
  switch (to) {
    case "anthropic-messages":
      return writeAnthropicRequest(conversation, { maxTokens }, leftOut);
    case "openai-completions":
      return writeCompletionsRequest(conversation, { outputLimitField }, leftOut);
    case "gemini":
      return writeGeminiRequest(conversation, leftOut);
    case "openai-responses":
      return writeResponsesRequest(conversation, leftOut);
  }
}
