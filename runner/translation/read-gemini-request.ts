import { isRecord, listOf, numberOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import { Untranslatable } from "./conversation.ts";
import type {
  AnswerShape,
  Conversation,
  ConversationSampling,
  OfferedTool,
  ToolChoice,
  WantedReasoning,
} from "./conversation.ts";
import { readGeminiContent } from "./gemini-content.ts";
import { jsonSchemaOf } from "./gemini-schema.ts";
import { FieldReader } from "./left-out.ts";
import type { LeftOut } from "./left-out.ts";
import { keepOfferedTools, offeredTool } from "./offered-tools.ts";
import type { ToolEntry } from "./offered-tools.ts";
import { requiredText } from "./required-fields.ts";
import { TurnBuilder } from "./turn-builder.ts";

/** Reads a request of Gemini, whose model and kind stand in its path. Throws `Untranslatable`. */
export function readGeminiRequest(
  body: JsonRecord,
  path: { readonly model: string; readonly stream: boolean },
  leftOut: LeftOut,
): Conversation {
  const fields = new FieldReader(body);
  if (fields.takeFirst("cachedContent", "cached_content") !== undefined)
    throw new Untranslatable("the field cachedContent");
  const turns = new TurnBuilder();
  const instruction = recordOf(fields.takeFirst("systemInstruction", "system_instruction"));
  for (const part of listOf(instruction["parts"]))
    turns.addSystem(requiredText(recordOf(part)["text"], "a part without text in a system prompt"));
  readGeminiContent(listOf(fields.take("contents")), turns);
  const calling = recordOf(
    recordOf(fields.takeFirst("toolConfig", "tool_config"))["functionCallingConfig"],
  );
  const { toolChoice, allowed } = choiceOf(calling);
  const tools = toolsOf(listOf(fields.take("tools")), toolChoice, leftOut);
  const config = new FieldReader(fields.takeFirst("generationConfig", "generation_config"));
  if ((numberOf(config.takeFirst("candidateCount", "candidate_count")) ?? 1) > 1)
    throw new Untranslatable("more than one answer (candidateCount)");
  const conversation = {
    ...path,
    system: turns.system,
    turns: turns.turns,
    tools: allowed === null ? tools : tools.filter(({ name }) => allowed.includes(name)),
    toolChoice,
    parallelCalls: null,
    sampling: samplingOf(config),
    reasoning: reasoningOf(config),
    answer: answerOf(config),
  };
  config.tellRest(leftOut, "generationConfig.");
  fields.tellRest(leftOut);
  return conversation;
}

function samplingOf(config: FieldReader): ConversationSampling {
  const read = (camel: string, snake: string): number | null =>
    numberOf(config.takeFirst(camel, snake));
  return {
    maxTokens: read("maxOutputTokens", "max_output_tokens"),
    temperature: numberOf(config.take("temperature")),
    topP: read("topP", "top_p"),
    topK: read("topK", "top_k"),
    seed: numberOf(config.take("seed")),
    presencePenalty: read("presencePenalty", "presence_penalty"),
    frequencyPenalty: read("frequencyPenalty", "frequency_penalty"),
    stop: listOf(config.takeFirst("stopSequences", "stop_sequences")).flatMap(
      (text) => textOf(text) ?? [],
    ),
  };
}

/** A budget of -1 is the model's own measure, which is what nothing means elsewhere. */
function reasoningOf(config: FieldReader): WantedReasoning {
  const thinking = recordOf(config.takeFirst("thinkingConfig", "thinking_config"));
  const level = textOf(thinking["thinkingLevel"] ?? thinking["thinking_level"]);
  const budget = numberOf(thinking["thinkingBudget"] ?? thinking["thinking_budget"]);
  return {
    effort: level === null || level.endsWith("UNSPECIFIED") ? null : level.toLowerCase(),
    budgetTokens: budget === null || budget < 0 ? null : budget,
  };
}

function answerOf(config: FieldReader): AnswerShape | null {
  const type = textOf(config.takeFirst("responseMimeType", "response_mime_type")) ?? "text/plain";
  const plain = config.takeFirst("responseJsonSchema", "response_json_schema");
  const own = config.takeFirst("responseSchema", "response_schema");
  const schema = isRecord(plain) ? plain : isRecord(own) ? jsonSchemaOf(own) : null;
  if (type === "text/plain") return null;
  if (type !== "application/json") throw new Untranslatable(`an answer of type ${type}`);
  return schema === null ? { kind: "json" } : { kind: "schema", name: "answer", schema };
}

function toolsOf(
  tools: readonly unknown[],
  choice: ToolChoice,
  leftOut: LeftOut,
): readonly OfferedTool[] {
  const entries = tools.flatMap((entry) => {
    const fields = recordOf(entry);
    const functions = ["functionDeclarations", "function_declarations"];
    const declared = functions.flatMap((name) => listOf(fields[name]));
    const others = Object.keys(fields).filter((name) => !functions.includes(name));
    return [
      ...declared.map((declaration) => declaredTool(declaration, leftOut)),
      ...others.map((type) => ({ name: type, type, tool: null })),
    ];
  });
  return keepOfferedTools(entries, choice, leftOut);
}

function declaredTool(declaration: unknown, leftOut: LeftOut): ToolEntry {
  const fields = new FieldReader(declaration);
  const name = fields.take("name");
  const description = textOf(fields.take("description"));
  const plain = fields.takeFirst("parametersJsonSchema", "parameters_json_schema");
  const own = fields.take("parameters");
  fields.tellRest(leftOut, "tools.");
  const schema = isRecord(plain) ? plain : isRecord(own) ? jsonSchemaOf(own) : {};
  return offeredTool({ name, description, schema });
}

function choiceOf(calling: JsonRecord): {
  readonly toolChoice: ToolChoice;
  readonly allowed: readonly string[] | null;
} {
  const names = listOf(calling["allowedFunctionNames"]).flatMap((name) => textOf(name) ?? []);
  const allowed = names.length === 0 ? null : names;
  switch (calling["mode"]) {
    case "NONE":
      return { toolChoice: "none", allowed: null };
    case "ANY": {
      const [only, ...more] = names;
      const isOne = only !== undefined && more.length === 0;
      return { toolChoice: isOne ? { name: only } : "required", allowed };
    }
    default:
      return { toolChoice: "auto", allowed };
  }
}
