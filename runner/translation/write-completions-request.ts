import type { JsonRecord } from "../../core/usage/json-view.ts";
import type {
  AnswerShape,
  AssistantPart,
  ContentPart,
  Conversation,
  ImagePart,
  ResultPart,
  ToolChoice,
  Turn,
} from "./conversation.ts";
import type { LeftOut } from "./left-out.ts";
import { imageUrl } from "./linked-image.ts";
import { openaiSettings } from "./openai-settings.ts";
import { told } from "./told-fields.ts";

/**
 * A conversation as a request of OpenAI Chat Completions, with the fields that its many servers share.
 * `outputLimitField` is the provider's name for the limit of the answer.
 */
export function writeCompletionsRequest(
  conversation: Conversation,
  { outputLimitField }: { readonly outputLimitField: string },
  leftOut: LeftOut,
): JsonRecord {
  const { model, stream, system, turns, sampling, answer } = conversation;
  const { temperature, topP, effort } = openaiSettings(conversation, leftOut);
  return {
    model,
    messages: [
      ...(system.length === 0 ? [] : [{ role: "system", content: system.join("\n\n") }]),
      ...turns.flatMap(messagesOf),
    ],
    ...toolFields(conversation),
    ...told({
      [outputLimitField]: sampling.maxTokens,
      temperature,
      top_p: topP,
      seed: sampling.seed,
      presence_penalty: sampling.presencePenalty,
      frequency_penalty: sampling.frequencyPenalty,
      stop: sampling.stop.length === 0 ? null : sampling.stop,
      reasoning_effort: effort,
      response_format: answer === null ? null : formatOf(answer),
    }),
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
  };
}

function toolFields({ tools, toolChoice, parallelCalls }: Conversation): JsonRecord {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, ...told({ description }), parameters: parametersOf(schema) },
    })),
    tool_choice: choiceOf(toolChoice),
    ...told({ parallel_tool_calls: parallelCalls }),
  };
}

/** Servers want an object's schema, also of a tool without arguments. */
function parametersOf(schema: JsonRecord): JsonRecord {
  return "type" in schema ? schema : { type: "object", properties: {}, ...schema };
}

function choiceOf(choice: ToolChoice): unknown {
  return typeof choice === "string"
    ? choice
    : { type: "function", function: { name: choice.name } };
}

function formatOf(answer: AnswerShape): JsonRecord {
  if (answer.kind === "json") return { type: "json_object" };
  const { name, schema } = answer;
  return { type: "json_schema", json_schema: { name, schema } };
}

function messagesOf(turn: Turn): JsonRecord[] {
  switch (turn.role) {
    case "user":
      return [{ role: "user", content: contentOf(turn.parts) }];
    case "assistant":
      return [assistantMessage(turn.parts)];
    case "tools":
      return toolMessages(turn.parts);
  }
}

function assistantMessage(parts: readonly AssistantPart[]): JsonRecord {
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  const thoughts = parts.flatMap((part) => (part.kind === "thought" ? [part.text] : []));
  const calls = parts.flatMap((part) =>
    part.kind === "call"
      ? [
          {
            id: part.id,
            type: "function",
            function: { name: part.name, arguments: part.arguments },
          },
        ]
      : [],
  );
  return {
    role: "assistant",
    content: texts.length === 0 ? null : texts.join("\n"),
    ...told({
      reasoning_content: thoughts.length === 0 ? null : thoughts.join("\n"),
      tool_calls: calls.length === 0 ? null : calls,
    }),
  };
}

/** A tool's message holds text alone: its pictures follow as the user's, after all of the turn's results. */
function toolMessages(results: readonly ResultPart[]): JsonRecord[] {
  const messages = results.map(({ callId, isError, content }) => {
    const texts = content.flatMap((part) => (part.kind === "text" ? [part.text] : []));
    const images = content.length - texts.length;
    const lines = [
      ...texts,
      ...(images === 0 ? [] : [`[${String(images)} image(s) of this result follow]`]),
    ];
    const mark = isError ? "[error] " : "";
    return { role: "tool", tool_call_id: callId, content: mark + lines.join("\n") };
  });
  const images = results.flatMap(({ callId, content }) =>
    content.flatMap((part) => (part.kind === "image" ? [{ callId, part }] : [])),
  );
  if (images.length === 0) return messages;
  const shown = images.flatMap(({ callId, part }) => [
    { type: "text", text: `[image of the result of ${callId}]` },
    imageField(part),
  ]);
  return [...messages, { role: "user", content: shown }];
}

function contentOf(parts: readonly ContentPart[]): unknown {
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  if (texts.length === parts.length) return texts.join("\n\n");
  return parts.map((part) =>
    part.kind === "text" ? { type: "text", text: part.text } : imageField(part),
  );
}

function imageField(part: ImagePart): JsonRecord {
  const url = imageUrl(part);
  return { type: "image_url", image_url: { url, ...told({ detail: part.detail }) } };
}
