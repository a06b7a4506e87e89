import type { JsonRecord } from "../../core/usage/json-view.ts";
import { argumentsObject } from "./call-arguments.ts";
import { Untranslatable } from "./conversation.ts";
import type {
  AssistantPart,
  CallPart,
  ContentPart,
  Conversation,
  OfferedTool,
  ResultPart,
  ToolChoice,
  Turn,
} from "./conversation.ts";
import { geminiThinking } from "./gemini-thinking.ts";
import type { LeftOut } from "./left-out.ts";
import { told } from "./told-fields.ts";

/** Google's word for a call whose signature is not known: the model takes it as one that was not its own. */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** A conversation as the body of a Gemini request; its model and kind stand in the path. */
export function writeGeminiRequest(conversation: Conversation, leftOut: LeftOut): JsonRecord {
  const { system, turns, tools, toolChoice, parallelCalls } = conversation;
  if (parallelCalls === false) leftOut.add("one call at a time");
  const names = new Map(
    turns.flatMap((turn) =>
      turn.role === "assistant"
        ? turn.parts.flatMap((part) =>
            part.kind === "call" ? [[part.id, part.name] as const] : [],
          )
        : [],
    ),
  );
  return {
    contents: turns.map((turn) => contentOf(turn, names)),
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system.map(textPart) } }),
    ...(tools.length === 0
      ? {}
      : {
          tools: [
            {
              functionDeclarations: tools.map(declaration),
            },
          ],
          toolConfig: { functionCallingConfig: callingOf(toolChoice) },
        }),
    generationConfig: configOf(conversation, leftOut),
  };
}

function declaration({ name, description, schema }: OfferedTool): JsonRecord {
  return { name, ...told({ description }), parametersJsonSchema: schema };
}

function configOf(conversation: Conversation, leftOut: LeftOut): JsonRecord {
  const { sampling, answer } = conversation;
  const thinkingConfig = geminiThinking(conversation, leftOut);
  return told({
    maxOutputTokens: sampling.maxTokens,
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    seed: sampling.seed,
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    stopSequences: sampling.stop.length === 0 ? null : sampling.stop,
    responseMimeType: answer === null ? null : "application/json",
    responseJsonSchema: answer?.kind === "schema" ? answer.schema : null,
    thinkingConfig,
  });
}

function contentOf(turn: Turn, names: ReadonlyMap<string, string>): JsonRecord {
  if (turn.role === "user") return { role: "user", parts: turn.parts.map(contentPart) };
  if (turn.role === "assistant") {
    const first = turn.parts.find((part) => part.kind === "call");
    return { role: "model", parts: turn.parts.flatMap((part) => modelPart(part, first)) };
  }
  return { role: "user", parts: turn.parts.flatMap((part) => resultParts(part, names)) };
}

function textPart(text: string): JsonRecord {
  return { text };
}

function contentPart(part: ContentPart): JsonRecord {
  if (part.kind === "text") return textPart(part.text);
  const { source } = part;
  if ("url" in source) throw new Untranslatable("a picture by its URL");
  return { inlineData: { mimeType: source.mediaType, data: source.data } };
}

/** Thoughts do not go back; their proof stands at the calls, the first of which must have one. */
function modelPart(part: AssistantPart, first: CallPart | undefined): JsonRecord[] {
  if (part.kind === "text") return [textPart(part.text)];
  if (part.kind === "thought") return [];
  const seal = part.seal ?? (part === first ? NO_SIGNATURE : null);
  return [
    {
      functionCall: {
        id: part.id,
        name: part.name,
        args: argumentsObject(part.arguments),
      },
      ...(seal === null ? {} : { thoughtSignature: seal }),
    },
  ];
}

function resultParts(
  { callId, isError, content }: ResultPart,
  names: ReadonlyMap<string, string>,
): JsonRecord[] {
  const texts = content.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  const images = content.filter((part) => part.kind === "image");
  const response = { [isError ? "error" : "output"]: texts.join("\n") };
  const name = names.get(callId);
  if (name === undefined)
    throw new Untranslatable("a tool result whose call is not in the request");
  return [{ functionResponse: { id: callId, name, response } }, ...images.map(contentPart)];
}

function callingOf(choice: ToolChoice): JsonRecord {
  if (typeof choice === "object") return { mode: "ANY", allowedFunctionNames: [choice.name] };
  return { mode: choice === "required" ? "ANY" : choice.toUpperCase() };
}
