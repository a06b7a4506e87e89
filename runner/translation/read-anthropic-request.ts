import { isRecord, listOf, numberOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import { Untranslatable } from "./conversation.ts";
import type {
  AnswerShape,
  AssistantPart,
  ContentPart,
  Conversation,
  OfferedTool,
  ToolChoice,
  WantedReasoning,
} from "./conversation.ts";
import { FieldReader } from "./left-out.ts";
import type { LeftOut } from "./left-out.ts";
import { keepOfferedTools, offeredTool } from "./offered-tools.ts";
import { requiredName, requiredText } from "./required-fields.ts";
import { TurnBuilder } from "./turn-builder.ts";

/** Reads a request of Anthropic Messages. Throws `Untranslatable`. */
export function readAnthropicRequest(body: JsonRecord, leftOut: LeftOut): Conversation {
  const fields = new FieldReader(body);
  const turns = new TurnBuilder();
  for (const text of textsOf(fields.take("system"), leftOut)) turns.addSystem(text);
  for (const message of listOf(fields.take("messages")))
    readMessage(recordOf(message), turns, leftOut);
  const choice = recordOf(fields.take("tool_choice"));
  const toolChoice = choiceOf(choice);
  const { answer, reasoning } = readOutput(fields, leftOut);
  const conversation = {
    model: textOf(fields.take("model")) ?? "",
    stream: fields.take("stream") === true,
    system: turns.system,
    turns: turns.turns,
    tools: toolsOf(listOf(fields.take("tools")), toolChoice, leftOut),
    toolChoice,
    parallelCalls: choice["disable_parallel_tool_use"] === true ? false : null,
    sampling: {
      maxTokens: numberOf(fields.take("max_tokens")),
      temperature: numberOf(fields.take("temperature")),
      topP: numberOf(fields.take("top_p")),
      topK: numberOf(fields.take("top_k")),
      seed: null,
      presencePenalty: null,
      frequencyPenalty: null,
      stop: listOf(fields.take("stop_sequences")).flatMap((text) => textOf(text) ?? []),
    },
    reasoning,
    answer,
  };
  fields.tellRest(leftOut);
  return conversation;
}

/** `thinking` and `output_config`: how much to think, and the form of the answer. */
function readOutput(
  fields: FieldReader,
  leftOut: LeftOut,
): { readonly answer: AnswerShape | null; readonly reasoning: WantedReasoning } {
  const config = new FieldReader(fields.take("output_config"));
  const format = recordOf(config.take("format") ?? fields.take("output_format"));
  const effort = textOf(config.take("effort"));
  config.tellRest(leftOut, "output_config.");
  const thinking = recordOf(fields.take("thinking"));
  // Adaptive thinking is every model's own measure; switching it off has no word elsewhere.
  if (thinking["type"] === "disabled") leftOut.add("thinking disabled");
  if (!isRecord(format["schema"])) {
    if (Object.keys(format).length > 0)
      throw new Untranslatable(`an answer of format ${String(format["type"])}`);
    return { answer: null, reasoning: { effort, budgetTokens: budgetOf(thinking) } };
  }
  const answer = { kind: "schema" as const, name: "answer", schema: format["schema"] };
  return { answer, reasoning: { effort, budgetTokens: budgetOf(thinking) } };
}

function budgetOf(thinking: JsonRecord): number | null {
  return thinking["type"] === "enabled" ? numberOf(thinking["budget_tokens"]) : null;
}

function readMessage(message: JsonRecord, turns: TurnBuilder, leftOut: LeftOut): void {
  const { role, content } = message;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  if (role === "system") {
    for (const text of textsOf(content, leftOut)) turns.addSystem(text);
    return;
  }
  if (role === "assistant") {
    turns.addAssistant(blocks.map((block) => assistantPart(recordOf(block), leftOut)));
    return;
  }
  if (role !== "user") throw new Untranslatable(`a message of role ${String(role)}`);
  const said: ContentPart[] = [];
  for (const block of blocks.map(recordOf)) {
    if (block["type"] !== "tool_result") said.push(contentPart(block, leftOut));
    else
      turns.addResult({
        kind: "result",
        callId: requiredName(block["tool_use_id"], "a tool result without a tool_use_id"),
        isError: block["is_error"] === true,
        content: contentOf(block["content"], leftOut),
      });
  }
  turns.addUser(said);
}

function contentOf(content: unknown, leftOut: LeftOut): ContentPart[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return listOf(content).map((block) => contentPart(recordOf(block), leftOut));
}

function textsOf(content: unknown, leftOut: LeftOut): string[] {
  return contentOf(content, leftOut).flatMap((part) => {
    if (part.kind === "text") return [part.text];
    throw new Untranslatable("a picture in a system prompt");
  });
}

function contentPart(block: JsonRecord, leftOut: LeftOut): ContentPart {
  if (block["cache_control"] !== undefined) leftOut.add("cache_control");
  const source = recordOf(block["source"]);
  switch (block["type"]) {
    case "text":
      return { kind: "text", text: requiredText(block["text"], "a text block without text") };
    case "image":
      return imagePart(source);
    case "document":
      if (source["type"] === "text")
        return { kind: "text", text: requiredText(source["data"], "a document without data") };
      throw new Untranslatable(`a document of type ${String(source["media_type"])}`);
    // What a search of deferred tools found; all of them are offered anyway.
    case "tool_reference":
      return { kind: "text", text: `tool ${String(block["tool_name"])}` };
    default:
      throw new Untranslatable(`a content block of type ${String(block["type"])}`);
  }
}

function imagePart(source: JsonRecord): ContentPart {
  const url = textOf(source["url"]);
  if (source["type"] === "url" && url !== null)
    return { kind: "image", source: { url }, detail: null };
  const data = textOf(source["data"]);
  const mediaType = textOf(source["media_type"]);
  if (source["type"] !== "base64" || data === null || mediaType === null)
    throw new Untranslatable(`an image from a source of type ${String(source["type"])}`);
  return { kind: "image", source: { mediaType, data }, detail: null };
}

function assistantPart(block: JsonRecord, leftOut: LeftOut): AssistantPart {
  if (block["cache_control"] !== undefined) leftOut.add("cache_control");
  switch (block["type"]) {
    case "text":
      return { kind: "text", text: requiredText(block["text"], "a text block without text") };
    // Its signature is the proxy's own; the provider's is kept beside the calls.
    case "thinking":
      return {
        kind: "thought",
        text: textOf(block["thinking"]) ?? "",
        seal: null,
        isHidden: false,
      };
    case "tool_use":
      return {
        kind: "call",
        id: requiredName(block["id"], "a tool call without an id"),
        name: requiredName(block["name"], "a tool call without a name"),
        arguments: JSON.stringify(block["input"] ?? {}),
        seal: null,
      };
    default:
      throw new Untranslatable(`a block of the assistant of type ${String(block["type"])}`);
  }
}

function toolsOf(
  tools: readonly unknown[],
  choice: ToolChoice,
  leftOut: LeftOut,
): readonly OfferedTool[] {
  const entries = tools.map((entry) => {
    const fields = new FieldReader(entry);
    const type = textOf(fields.take("type")) ?? "custom";
    const name = fields.take("name");
    const description = textOf(fields.take("description"));
    const schema = recordOf(fields.take("input_schema"));
    if (type !== "custom") return { name: textOf(name) ?? type, type, tool: null };
    fields.tellRest(leftOut, "tools.");
    return offeredTool({ name, description, schema });
  });
  return keepOfferedTools(entries, choice, leftOut);
}

function choiceOf(choice: JsonRecord): ToolChoice {
  switch (choice["type"]) {
    case "any":
      return "required";
    case "none":
      return "none";
    case "tool":
      return { name: requiredName(choice["name"], "a tool choice without a name") };
    case "auto":
    case undefined:
      return "auto";
    default:
      throw new Untranslatable(`a tool choice of type ${String(choice["type"])}`);
  }
}
