import type { JsonRecord } from "../../core/usage/json-view.ts";
import { anthropicSettings } from "./anthropic-settings.ts";
import { argumentsObject } from "./call-arguments.ts";
import { Untranslatable } from "./conversation.ts";
import type {
  AssistantPart,
  ContentPart,
  Conversation,
  ImagePart,
  OfferedTool,
  ToolChoice,
  Turn,
} from "./conversation.ts";
import type { LeftOut } from "./left-out.ts";

/** Where the provider shall remember what came so far, as other protocols' providers do unasked. */
const CACHE_HERE = { cache_control: { type: "ephemeral" } };

/**
 * A conversation as a request of Anthropic Messages. Its prompt is cached up to its end, since the
 * agents of all other protocols rely on a provider that does so by itself. `maxTokens` is sent where the
 * agent names no limit, which this protocol does not allow. Throws `Untranslatable`.
 */
export function writeAnthropicRequest(
  conversation: Conversation,
  defaults: { readonly maxTokens: number },
  leftOut: LeftOut,
): JsonRecord {
  const { model, stream, system, turns, tools, answer } = conversation;
  if (answer?.kind === "json") throw new Untranslatable("an answer of any JSON");
  const messages = turns.flatMap(messagesOf);
  const settings = anthropicSettings(conversation, defaults, leftOut);
  const config = {
    ...settings.outputConfig,
    ...(answer === null ? {} : { format: { type: "json_schema", schema: answer.schema } }),
  };
  return {
    model,
    ...(system.length === 0 ? {} : { system: withCacheMark(system.map(textBlock)) }),
    messages: withMarkedEnd(messages),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(toolField),
          tool_choice: choiceOf(conversation),
        }),
    ...settings.fields,
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
    stream,
  };
}

function toolField({ name, description, schema }: OfferedTool): JsonRecord {
  const described = description === null ? {} : { description };
  return { name, ...described, input_schema: { type: "object", ...schema } };
}

interface Message {
  readonly role: "user" | "assistant";
  readonly content: readonly JsonRecord[];
}

function messagesOf(turn: Turn): Message[] {
  if (turn.role === "user") return [{ role: "user", content: turn.parts.map(contentBlock) }];
  if (turn.role === "assistant") {
    const content = turn.parts.flatMap(assistantBlock);
    return content.length === 0 ? [] : [{ role: "assistant", content }];
  }
  const content = turn.parts.map(({ callId, isError, content: parts }) => ({
    type: "tool_result",
    tool_use_id: idOf(callId),
    content: parts.filter((part) => part.kind !== "text" || part.text !== "").map(contentBlock),
    ...(isError ? { is_error: true } : {}),
  }));
  return [{ role: "user", content }];
}

function textBlock(text: string): JsonRecord {
  return { type: "text", text };
}

function contentBlock(part: ContentPart): JsonRecord {
  return part.kind === "text" ? textBlock(part.text) : imageBlock(part);
}

function imageBlock({ source }: ImagePart): JsonRecord {
  if ("url" in source) return { type: "image", source: { type: "url", url: source.url } };
  const { mediaType, data } = source;
  return { type: "image", source: { type: "base64", media_type: mediaType, data } };
}

/** A thought without its signature cannot be sent: the provider would refuse it. */
function assistantBlock(part: AssistantPart): JsonRecord[] {
  switch (part.kind) {
    case "text":
      return [textBlock(part.text)];
    case "thought":
      if (part.seal === null) return [];
      return part.isHidden
        ? [{ type: "redacted_thinking", data: part.seal }]
        : [{ type: "thinking", thinking: part.text, signature: part.seal }];
    case "call":
      return [
        {
          type: "tool_use",
          id: idOf(part.id),
          name: part.name,
          input: argumentsObject(part.arguments),
        },
      ];
  }
}

/** Ids of other protocols may hold characters that are none here. */
function idOf(id: string): string {
  return id.replaceAll(/[^\w-]/gu, "_");
}

function choiceOf({ toolChoice, parallelCalls }: Conversation): JsonRecord {
  const choice = plainChoice(toolChoice);
  if (parallelCalls !== false || toolChoice === "none") return choice;
  return { ...choice, disable_parallel_tool_use: true };
}

function plainChoice(choice: ToolChoice): JsonRecord {
  if (typeof choice === "object") return { type: "tool", name: choice.name };
  return { type: choice === "required" ? "any" : choice };
}

function withCacheMark(blocks: readonly JsonRecord[]): JsonRecord[] {
  return blocks.map((block, index) =>
    index === blocks.length - 1 ? { ...block, ...CACHE_HERE } : block,
  );
}

/** Thoughts take no mark, and a turn of the assistant does not end a prompt of an agent. */
function withMarkedEnd(messages: readonly Message[]): JsonRecord[] {
  return messages.map((message, index) => {
    const isEnd = index === messages.length - 1 && message.role === "user";
    return { ...message, content: isEnd ? withCacheMark(message.content) : message.content };
  });
}
