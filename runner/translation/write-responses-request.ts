import { isRecord, parseJson } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import { Untranslatable } from "./conversation.ts";
import type {
  AnswerShape,
  AssistantPart,
  ContentPart,
  Conversation,
  ResultPart,
  ToolChoice,
  Turn,
} from "./conversation.ts";
import { leaveOutPenalties, type LeftOut } from "./left-out.ts";
import { imageUrl } from "./linked-image.ts";
import { openaiSettings } from "./openai-settings.ts";
import { told } from "./told-fields.ts";

/**
 * A conversation as a request of OpenAI Responses that leaves nothing with the provider: thoughts come
 * sealed and go back so. Throws `Untranslatable`.
 */
export function writeResponsesRequest(conversation: Conversation, leftOut: LeftOut): JsonRecord {
  const { model, stream, system, turns, tools, sampling, answer } = conversation;
  if (sampling.stop.length > 0) throw new Untranslatable("a stop sequence");
  const { temperature, topP, effort } = openaiSettings(conversation, leftOut);
  leaveOutPenalties(sampling, leftOut);
  return {
    model,
    ...told({ instructions: system.length === 0 ? null : system.join("\n\n") }),
    input: turns.flatMap(itemsOf),
    ...(tools.length === 0 ? {} : toolFields(conversation)),
    ...told({
      max_output_tokens: sampling.maxTokens,
      temperature,
      top_p: topP,
      text: answer === null ? null : { format: formatOf(answer) },
    }),
    // A model that does not think refuses both.
    ...(effort === null
      ? {}
      : {
          reasoning: { effort, summary: "auto" },
          include: ["reasoning.encrypted_content"],
        }),
    store: false,
    stream,
  };
}

function toolFields({ tools, toolChoice, parallelCalls }: Conversation): JsonRecord {
  return {
    tools: tools.map(({ name, description, schema }) => {
      const parameters = { type: "object", properties: {}, ...schema };
      return { type: "function", name, description, parameters, strict: false };
    }),
    tool_choice: choiceOf(toolChoice),
    ...told({ parallel_tool_calls: parallelCalls }),
  };
}

function choiceOf(choice: ToolChoice): unknown {
  return typeof choice === "string" ? choice : { type: "function", name: choice.name };
}

function formatOf(answer: AnswerShape): JsonRecord {
  if (answer.kind === "json") return { type: "json_object" };
  return { type: "json_schema", name: answer.name, schema: answer.schema, strict: false };
}

function itemsOf(turn: Turn): JsonRecord[] {
  switch (turn.role) {
    case "user":
      return [{ type: "message", role: "user", content: turn.parts.map(inputPart) }];
    case "assistant":
      return turn.parts.flatMap(assistantItem);
    case "tools":
      return turn.parts.map(resultItem);
  }
}

function inputPart(part: ContentPart): JsonRecord {
  if (part.kind === "text") return { type: "input_text", text: part.text };
  return { type: "input_image", image_url: imageUrl(part), detail: part.detail ?? "auto" };
}

/** A thought goes back as the item that it came as; without its seal it cannot. */
function assistantItem(part: AssistantPart): JsonRecord[] {
  switch (part.kind) {
    case "text": {
      const content = [{ type: "output_text", text: part.text, annotations: [] }];
      return [{ type: "message", role: "assistant", content }];
    }
    case "thought": {
      const item = part.seal === null ? null : parseJson(part.seal);
      return isRecord(item) ? [item] : [];
    }
    case "call": {
      const { id, name, arguments: text } = part;
      return [{ type: "function_call", call_id: id, name, arguments: text }];
    }
  }
}

function resultItem({ callId, isError, content }: ResultPart): JsonRecord {
  const parts = isError ? [{ kind: "text" as const, text: "[error]" }, ...content] : content;
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  const isPlain = texts.length === parts.length;
  const output = isPlain ? texts.join(isError ? " " : "\n") : parts.map(inputPart);
  return { type: "function_call_output", call_id: callId, output };
}
