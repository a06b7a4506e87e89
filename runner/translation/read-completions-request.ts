import { listOf, numberOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import { Untranslatable } from "./conversation.ts";
import type {
  AnswerShape,
  AssistantPart,
  CallPart,
  ContentPart,
  Conversation,
  OfferedTool,
  ToolChoice,
} from "./conversation.ts";
import { FieldReader } from "./left-out.ts";
import type { LeftOut } from "./left-out.ts";
import { linkedImage } from "./linked-image.ts";
import { keepOfferedTools, offeredTool } from "./offered-tools.ts";
import { requiredArguments, requiredName, requiredText } from "./required-fields.ts";
import { TurnBuilder } from "./turn-builder.ts";

/** Reads a request of OpenAI Chat Completions. Throws `Untranslatable`. */
export function readCompletionsRequest(body: JsonRecord, leftOut: LeftOut): Conversation {
  const fields = new FieldReader(body);
  const turns = new TurnBuilder();
  for (const message of listOf(fields.take("messages"))) readMessage(recordOf(message), turns);
  const toolChoice = choiceOf(fields.take("tool_choice"));
  // Where both are sent, the larger one was reserved for.
  const limits = [
    numberOf(fields.take("max_tokens")),
    numberOf(fields.take("max_completion_tokens")),
  ];
  const { effort, max_tokens: budget } = recordOf(fields.take("reasoning"));
  const stop = fields.take("stop");
  const parallel = fields.take("parallel_tool_calls");
  fields.take("stream_options");
  if ((numberOf(fields.take("n")) ?? 1) > 1) throw new Untranslatable("more than one answer (n)");
  const conversation = {
    model: textOf(fields.take("model")) ?? "",
    stream: fields.take("stream") === true,
    system: turns.system,
    turns: turns.turns,
    tools: toolsOf(listOf(fields.take("tools")), toolChoice, leftOut),
    toolChoice,
    parallelCalls: typeof parallel === "boolean" ? parallel : null,
    sampling: {
      maxTokens: limits.every((limit) => limit === null) ? null : Math.max(...limits.map(Number)),
      temperature: numberOf(fields.take("temperature")),
      topP: numberOf(fields.take("top_p")),
      topK: numberOf(fields.take("top_k")),
      seed: numberOf(fields.take("seed")),
      presencePenalty: numberOf(fields.take("presence_penalty")),
      frequencyPenalty: numberOf(fields.take("frequency_penalty")),
      stop: typeof stop === "string" ? [stop] : listOf(stop).flatMap((text) => textOf(text) ?? []),
    },
    reasoning: {
      effort: textOf(fields.take("reasoning_effort")) ?? textOf(effort),
      budgetTokens: numberOf(budget),
    },
    answer: answerOf(recordOf(fields.take("response_format"))),
  };
  refuseOld(fields);
  fields.tellRest(leftOut);
  return conversation;
}

/** Fields of the time before tools: no agent of today sends them. */
function refuseOld(fields: FieldReader): void {
  for (const name of ["functions", "function_call", "audio", "modalities"]) {
    const value = fields.take(name);
    if (value !== undefined && value !== null) throw new Untranslatable(`the field ${name}`);
  }
}

function readMessage(message: JsonRecord, turns: TurnBuilder): void {
  const { role, content } = message;
  switch (role) {
    case "system":
    case "developer":
      for (const part of contentOf(content)) turns.addSystem(plainText(part));
      break;
    case "user":
      turns.addUser(contentOf(content));
      break;
    case "assistant":
      turns.addAssistant(assistantParts(message));
      break;
    case "tool":
      turns.addResult({
        kind: "result",
        callId: requiredName(message["tool_call_id"], "a tool result without a tool_call_id"),
        isError: false,
        content: contentOf(content),
      });
      break;
    default:
      throw new Untranslatable(`a message of role ${String(role)}`);
  }
}

function plainText(part: ContentPart): string {
  if (part.kind === "text") return part.text;
  throw new Untranslatable("a picture in a system prompt");
}

function assistantParts(message: JsonRecord): AssistantPart[] {
  const thought = textOf(message["reasoning_content"]) ?? textOf(message["reasoning"]);
  const texts = contentOf(message["content"]).map((part): AssistantPart => ({
    kind: "text",
    text: plainText(part),
  }));
  return [
    ...(thought === null || thought === ""
      ? []
      : [{ kind: "thought" as const, text: thought, seal: null, isHidden: false }]),
    ...texts,
    ...listOf(message["tool_calls"]).map((call) => callPart(recordOf(call))),
  ];
}

function callPart(call: JsonRecord): CallPart {
  const named = recordOf(call["function"]);
  const unnamed = `a tool call of type ${String(call["type"])} without a function's name`;
  return {
    kind: "call",
    id: requiredName(call["id"], "a tool call without an id"),
    name: requiredName(named["name"], unnamed),
    arguments: requiredArguments(named["arguments"]),
    seal: null,
  };
}

function contentOf(content: unknown): ContentPart[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return listOf(content).map((entry) => {
    const part = recordOf(entry);
    switch (part["type"]) {
      case "text":
        return { kind: "text", text: requiredText(part["text"], "a text part without text") };
      case "refusal":
        return { kind: "text", text: requiredText(part["refusal"], "a refusal without text") };
      case "image_url": {
        const image = recordOf(part["image_url"]);
        return linkedImage(
          requiredName(image["url"], "a picture without a url"),
          textOf(image["detail"]),
        );
      }
      default:
        throw new Untranslatable(`a part of type ${String(part["type"])}`);
    }
  });
}

function toolsOf(
  tools: readonly unknown[],
  choice: ToolChoice,
  leftOut: LeftOut,
): readonly OfferedTool[] {
  const entries = tools.map((entry) => {
    const type = textOf(recordOf(entry)["type"]) ?? "function";
    const fields = new FieldReader(recordOf(entry)["function"]);
    const name = fields.take("name");
    const description = textOf(fields.take("description"));
    const schema = recordOf(fields.take("parameters"));
    if (type !== "function") return { name: type, type, tool: null };
    fields.tellRest(leftOut, "tools.");
    return offeredTool({ name, description, schema });
  });
  return keepOfferedTools(entries, choice, leftOut);
}

function choiceOf(choice: unknown): ToolChoice {
  if (choice === "required" || choice === "none") return choice;
  if (typeof choice !== "object" || choice === null) return "auto";
  const name = textOf(recordOf(recordOf(choice)["function"])["name"]);
  if (name === null)
    throw new Untranslatable(`a tool choice of type ${String(recordOf(choice)["type"])}`);
  return { name };
}

function answerOf(format: JsonRecord): AnswerShape | null {
  const { type } = format;
  if (type === undefined || type === "text") return null;
  if (type === "json_object") return { kind: "json" };
  const { name, schema } = recordOf(format["json_schema"]);
  if (type !== "json_schema")
    throw new Untranslatable(`an answer of format ${JSON.stringify(type)}`);
  return { kind: "schema", name: textOf(name) ?? "answer", schema: recordOf(schema) };
}
