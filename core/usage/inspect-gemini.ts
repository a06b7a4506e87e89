import { listOf, numberOf, recordOf, textOf } from "./json-view.ts";
import type { JsonRecord } from "./json-view.ts";
import { oddCount, presentFields, unlistedValue } from "./request-facts.ts";
import type { RequestFacts } from "./request-facts.ts";

/** The model's name and whether it streams stand in the path, not in the body. */
export function inspectGemini(
  body: JsonRecord,
  path: { readonly model: string; readonly stream: boolean },
): RequestFacts {
  const contents = listOf(body["contents"]).map(recordOf);
  const parts = contents.flatMap((content) => listOf(content["parts"]).map(recordOf));
  const inline = parts.map((part) => recordOf(part["inlineData"] ?? part["inline_data"]));
  const images = inline.filter(isImage);
  const config = recordOf(body["generationConfig"] ?? body["generation_config"]);
  const tools = listOf(body["tools"]).map(recordOf);
  const schema = recordOf(config["responseJsonSchema"] ?? config["responseSchema"]);
  const lastUser = contents.findLast(({ role }) => role === "user" || role === undefined);
  return {
    model: path.model,
    stream: path.stream,
    sampling: {
      max_tokens: numberOf(config["maxOutputTokens"] ?? config["max_output_tokens"]),
      temperature: numberOf(config["temperature"]),
      top_p: numberOf(config["topP"] ?? config["top_p"]),
      top_k: numberOf(config["topK"] ?? config["top_k"]),
      seed: numberOf(config["seed"]),
      n: numberOf(config["candidateCount"] ?? config["candidate_count"]),
      reasoning: reasoningOf(recordOf(config["thinkingConfig"] ?? config["thinking_config"])),
    },
    choices: Math.max(1, numberOf(config["candidateCount"] ?? config["candidate_count"]) ?? 1),
    outputLimit: numberOf(config["maxOutputTokens"] ?? config["max_output_tokens"]),
    tools: tools.reduce((sum, tool) => sum + declarations(tool).length, 0),
    messages: contents.length,
    hasMessages: contents.length > 0,
    hasInput: false,
    images: {
      count: images.length,
      bytes: images.reduce((sum, image) => sum + (textOf(image["data"])?.length ?? 0), 0),
    },
    unbounded: [
      ...presentFields(body, ["cachedContent", "cached_content"]),
      ...unlistedValue(body, "serviceTier", ["standard", "SERVICE_TIER_STANDARD"]),
      ...oddCount(config, ["candidateCount", "candidate_count"]),
      ...oddCount(config, ["maxOutputTokens", "max_output_tokens"]),
      ...new Set(tools.flatMap(serverTools)),
      ...(parts.some((part) => (part["fileData"] ?? part["file_data"]) !== undefined)
        ? ["part fileData"]
        : []),
      ...new Set(inline.flatMap(unboundedData)),
      ...modalities(config),
    ],
    otherModels: [],
    systemTexts: textsIn(recordOf(body["systemInstruction"] ?? body["system_instruction"])),
    lastUserTexts: textsIn(recordOf(lastUser)),
    answerKeys:
      Object.keys(schema).length === 0 ? null : Object.keys(recordOf(schema["properties"])),
  };
}

function textsIn(content: JsonRecord): string[] {
  return listOf(content["parts"]).flatMap((part) => textOf(recordOf(part)["text"]) ?? []);
}

function reasoningOf(thinking: JsonRecord): string | number | null {
  return (
    textOf(thinking["thinkingLevel"] ?? thinking["thinking_level"]) ??
    numberOf(thinking["thinkingBudget"] ?? thinking["thinking_budget"])
  );
}

function declarations(tool: JsonRecord): readonly unknown[] {
  return listOf(tool["functionDeclarations"] ?? tool["function_declarations"]);
}

/** Everything beside function declarations runs at the provider. */
function serverTools(tool: JsonRecord): string[] {
  return Object.keys(tool)
    .filter((key) => key !== "functionDeclarations" && key !== "function_declarations")
    .map((key) => `tool ${key}`);
}

function isImage(data: JsonRecord): boolean {
  return mimeOf(data).startsWith("image/");
}

function unboundedData(data: JsonRecord): string[] {
  const mime = mimeOf(data);
  return mime === "" || mime.startsWith("image/") || mime.startsWith("text/")
    ? []
    : [`data ${mime}`];
}

function mimeOf(data: JsonRecord): string {
  return textOf(data["mimeType"] ?? data["mime_type"]) ?? "";
}

function modalities(config: JsonRecord): string[] {
  return listOf(config["responseModalities"])
    .map(String)
    .filter((kind) => kind.toUpperCase() !== "TEXT")
    .map((kind) => `modality ${kind}`);
}
