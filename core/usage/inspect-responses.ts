import { listOf, numberOf, recordOf, textOf } from "./json-view.ts";
import type { JsonRecord } from "./json-view.ts";
import { presentFields, unlistedValue } from "./request-facts.ts";
import type { RequestFacts } from "./request-facts.ts";

const UNBOUNDED_FIELDS = [
  "previous_response_id",
  "conversation",
  "background",
  "prompt",
  "context_management",
];

/** Tools that run at the agent. `shell` does not: it may name a container of the provider's. */
const CLIENT_TOOLS = new Set([
  "function",
  "custom",
  "local_shell",
  "apply_patch",
  "computer",
  "computer_use_preview",
]);

const UNBOUNDED_PARTS = new Set(["input_file", "input_audio"]);

export function inspectResponses(body: JsonRecord): RequestFacts {
  const items = listOf(body["input"]).map(recordOf);
  const parts = items.flatMap(partsOf);
  const images = parts.filter((part) => part["type"] === "input_image");
  const tools = listOf(body["tools"]).map(recordOf);
  const schema = recordOf(recordOf(recordOf(body["text"])["format"])["schema"]);
  const plainInput = textOf(body["input"]);
  const lastUser = items.findLast((item) => item["role"] === "user");
  return {
    model: textOf(body["model"]),
    stream: body["stream"] === true,
    sampling: {
      max_tokens: numberOf(body["max_output_tokens"]),
      temperature: numberOf(body["temperature"]),
      top_p: numberOf(body["top_p"]),
      top_k: null,
      seed: null,
      n: null,
      reasoning: textOf(recordOf(body["reasoning"])["effort"]),
    },
    choices: 1,
    outputLimit: numberOf(body["max_output_tokens"]),
    tools: tools.length,
    messages: items.length,
    hasMessages: false,
    hasInput: plainInput !== null || items.length > 0,
    images: {
      count: images.length,
      bytes: images.reduce((sum, image) => sum + (textOf(image["image_url"])?.length ?? 0), 0),
    },
    unbounded: [
      ...presentFields(body, UNBOUNDED_FIELDS),
      ...unlistedValue(body, "service_tier", ["auto", "default", "standard"]),
      ...new Set(tools.flatMap(serverTool)),
      ...new Set(parts.flatMap(unboundedPart)),
      ...(items.some((item) => item["type"] === "item_reference") ? ["item_reference"] : []),
    ],
    otherModels: [],
    systemTexts: textsIn(body["instructions"]),
    lastUserTexts: plainInput === null ? textsIn(lastUser?.["content"]) : [plainInput],
    answerKeys:
      Object.keys(schema).length === 0 ? null : Object.keys(recordOf(schema["properties"])),
  };
}

/** A message's parts, and what a tool gave back. */
function partsOf(item: JsonRecord): JsonRecord[] {
  return [...listOf(item["content"]), ...listOf(item["output"])].map(recordOf);
}

function textsIn(content: unknown): string[] {
  const plain = textOf(content);
  if (plain !== null) return [plain];
  return listOf(content).flatMap((part) => textOf(recordOf(part)["text"]) ?? []);
}

function serverTool(tool: JsonRecord): string[] {
  if (tool["type"] === "namespace")
    return listOf(tool["tools"]).flatMap((inner) => serverTool(recordOf(inner)));
  const type = textOf(tool["type"]) ?? "function";
  // What it finds comes back in the next request, where its bytes count; codex offers it with gpt-5.5.
  if (type === "tool_search" && tool["execution"] === "client") return [];
  return CLIENT_TOOLS.has(type) ? [] : [`tool ${type}`];
}

function unboundedPart(part: JsonRecord): string[] {
  const type = textOf(part["type"]) ?? "";
  return UNBOUNDED_PARTS.has(type) || textOf(part["file_id"]) !== null ? [`part ${type}`] : [];
}
