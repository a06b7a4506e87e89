import { listOf, numberOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import { Untranslatable } from "./conversation.ts";
import type { AnswerShape, ContentPart, Conversation, ToolChoice } from "./conversation.ts";
import { FieldReader } from "./left-out.ts";
import type { LeftOut } from "./left-out.ts";
import { linkedImage } from "./linked-image.ts";
import { requiredArguments, requiredName, requiredText } from "./required-fields.ts";
import { readResponsesTools, sentName } from "./responses-tools.ts";
import type { ResponsesTools } from "./responses-tools.ts";
import { TurnBuilder } from "./turn-builder.ts";

/** State that only the agent's own provider holds. */
const PROVIDER_STATE = ["previous_response_id", "conversation", "prompt", "background"];

/** Reads a request of OpenAI Responses. Throws `Untranslatable`. */
export function readResponsesRequest(
  body: JsonRecord,
  leftOut: LeftOut,
): { readonly conversation: Conversation; readonly tools: ResponsesTools } {
  const fields = new FieldReader(body);
  for (const name of PROVIDER_STATE) {
    const value = fields.take(name);
    if (value !== undefined && value !== null && value !== false)
      throw new Untranslatable(`the field ${name}`);
  }
  const turns = new TurnBuilder();
  turns.addSystem(requiredText(fields.take("instructions") ?? "", "instructions that are no text"));
  const input = fields.take("input");
  if (typeof input === "string") turns.addUser([{ kind: "text", text: input }]);
  for (const item of listOf(input)) readItem(recordOf(item), turns);
  const toolChoice = choiceOf(fields.take("tool_choice"));
  const tools = readResponsesTools(listOf(fields.take("tools")), toolChoice, leftOut);
  const parallel = fields.take("parallel_tool_calls");
  const reasoning = new FieldReader(fields.take("reasoning"));
  // A summary of the thoughts is what the agent gets of them.
  reasoning.take("summary");
  const text = new FieldReader(fields.take("text"));
  // Whether the provider keeps the reply changes nothing of it; sealed thoughts are kept here.
  fields.take("store");
  for (const name of listOf(fields.take("include")))
    if (name !== "reasoning.encrypted_content") leftOut.add(`include ${String(name)}`);
  const conversation = {
    model: textOf(fields.take("model")) ?? "",
    stream: fields.take("stream") === true,
    system: turns.system,
    turns: turns.turns,
    tools: tools.offered,
    toolChoice,
    parallelCalls: parallel === false ? false : null,
    sampling: {
      maxTokens: numberOf(fields.take("max_output_tokens")),
      temperature: numberOf(fields.take("temperature")),
      topP: numberOf(fields.take("top_p")),
      topK: null,
      seed: null,
      presencePenalty: null,
      frequencyPenalty: null,
      stop: [],
    },
    reasoning: { effort: textOf(reasoning.take("effort")), budgetTokens: null },
    answer: answerOf(recordOf(text.take("format"))),
  };
  reasoning.tellRest(leftOut, "reasoning.");
  text.tellRest(leftOut, "text.");
  fields.tellRest(leftOut);
  return { conversation, tools };
}

function readItem(item: JsonRecord, turns: TurnBuilder): void {
  const type = textOf(item["type"]) ?? "message";
  switch (type) {
    case "message":
      return readMessage(item, turns);
    case "reasoning": {
      const text = [...listOf(item["content"]), ...listOf(item["summary"])]
        .flatMap((part) => textOf(recordOf(part)["text"]) ?? [])
        .join("\n");
      if (text !== "") turns.addAssistant([{ kind: "thought", text, seal: null, isHidden: false }]);
      return;
    }
    case "function_call":
    case "custom_tool_call":
      return turns.addAssistant([
        {
          kind: "call",
          id: requiredName(item["call_id"], "a tool call without a call_id"),
          name: sentName(
            requiredName(item["name"], "a tool call without a name"),
            textOf(item["namespace"]),
          ),
          arguments:
            type === "function_call"
              ? requiredArguments(item["arguments"])
              : JSON.stringify({ input: item["input"] }),
          seal: null,
        },
      ]);
    case "function_call_output":
    case "custom_tool_call_output":
      return turns.addResult({
        kind: "result",
        callId: requiredName(item["call_id"], "a tool result without a call_id"),
        isError: false,
        content: contentOf(item["output"]),
      });
    default:
      throw new Untranslatable(`an item of type ${type}`);
  }
}

function readMessage({ role, content }: JsonRecord, turns: TurnBuilder): void {
  const parts = contentOf(content);
  if (role === "user") return turns.addUser(parts);
  for (const part of parts) {
    if (part.kind !== "text") throw new Untranslatable(`a picture in a message of ${String(role)}`);
    if (role === "assistant") turns.addAssistant([part]);
    else if (role === "system" || role === "developer") turns.addSystem(part.text);
    else throw new Untranslatable(`a message of role ${String(role)}`);
  }
}

function contentOf(content: unknown): ContentPart[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return listOf(content).map((entry) => {
    const part = recordOf(entry);
    switch (part["type"]) {
      case "input_text":
      case "output_text":
      case "text":
        return { kind: "text", text: requiredText(part["text"], "a text part without text") };
      case "refusal":
        return { kind: "text", text: requiredText(part["refusal"], "a refusal without text") };
      case "input_image": {
        const url = textOf(part["image_url"]);
        if (url === null) throw new Untranslatable("a picture by its file id");
        return linkedImage(url, textOf(part["detail"]));
      }
      default:
        throw new Untranslatable(`a part of type ${String(part["type"])}`);
    }
  });
}

function choiceOf(choice: unknown): ToolChoice {
  if (choice === "required" || choice === "none") return choice;
  if (typeof choice !== "object" || choice === null) return "auto";
  const { type, name, namespace } = recordOf(choice);
  const isTool = type === "function" || type === "custom";
  if (!isTool || typeof name !== "string")
    throw new Untranslatable(`a tool choice of type ${String(type)}`);
  return { name: sentName(name, textOf(namespace)) };
}

function answerOf(format: JsonRecord): AnswerShape | null {
  const { type, name, schema } = format;
  if (type === undefined || type === "text") return null;
  if (type === "json_object") return { kind: "json" };
  if (type !== "json_schema")
    throw new Untranslatable(`an answer of format ${JSON.stringify(type)}`);
  return { kind: "schema", name: textOf(name) ?? "answer", schema: recordOf(schema) };
}
