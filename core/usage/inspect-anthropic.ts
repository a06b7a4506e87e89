import { listOf, numberOf, recordOf, textOf } from "./json-view.ts";
import type { JsonRecord } from "./json-view.ts";
import { presentFields, unlistedValue } from "./request-facts.ts";
import type { RequestFacts } from "./request-facts.ts";

/** Beginnings of tool types that run at the agent; a tool without a type is the agent's own. */
const CLIENT_TOOLS = ["custom", "bash_", "text_editor_", "computer_", "memory_", "browser_"];

const UNBOUNDED_FIELDS = [
  "mcp_servers",
  "container",
  "compaction",
  "thread",
  "fallbacks",
  "fallback_credit_token",
  "inference_geo",
  "billing_policy",
];

const UNBOUNDED_BLOCKS = new Set(["document", "container_upload", "file"]);

export function inspectAnthropic(body: JsonRecord): RequestFacts {
  const messages = listOf(body["messages"]).map(recordOf);
  const blocks = messages.flatMap((message) => blocksOf(message["content"]));
  const images = blocks.filter((block) => block["type"] === "image");
  const lastUser = messages.findLast((message) => message["role"] === "user");
  const tools = listOf(body["tools"]).map(recordOf);
  const schema = recordOf(
    recordOf(recordOf(body["output_config"])["format"] ?? body["output_format"])["schema"],
  );
  return {
    model: textOf(body["model"]),
    stream: body["stream"] === true,
    sampling: {
      max_tokens: numberOf(body["max_tokens"]),
      temperature: numberOf(body["temperature"]),
      top_p: numberOf(body["top_p"]),
      top_k: numberOf(body["top_k"]),
      seed: null,
      n: null,
      reasoning: reasoningOf(body),
    },
    choices: 1,
    outputLimit: numberOf(body["max_tokens"]),
    tools: tools.length,
    messages: messages.length,
    hasMessages: messages.length > 0,
    hasInput: false,
    images: {
      count: images.length,
      bytes: images.reduce((sum, image) => sum + dataBytes(recordOf(image["source"])), 0),
    },
    unbounded: [
      ...presentFields(body, UNBOUNDED_FIELDS),
      ...unlistedValue(body, "service_tier", ["auto", "standard_only"]),
      ...unlistedValue(body, "speed", ["standard"]),
      ...tools.flatMap(serverTool),
      ...new Set(blocks.flatMap(unboundedBlock)),
      ...compactions(body),
    ],
    otherModels: listOf(body["fallbacks"]).flatMap((entry) => {
      const model = textOf(entry) ?? textOf(recordOf(entry)["model"]);
      return model === null ? [] : [model];
    }),
    systemTexts: textsIn(body["system"]),
    lastUserTexts: textsIn(lastUser?.["content"]),
    answerKeys:
      Object.keys(schema).length === 0 ? null : Object.keys(recordOf(schema["properties"])),
  };
}

/** Content blocks, those within tool results included. */
function blocksOf(content: unknown): JsonRecord[] {
  return listOf(content).flatMap((entry) => {
    const block = recordOf(entry);
    return block["type"] === "tool_result" ? blocksOf(block["content"]) : [block];
  });
}

function textsIn(content: unknown): string[] {
  const plain = textOf(content);
  if (plain !== null) return [plain];
  return listOf(content).flatMap((part) => textOf(recordOf(part)["text"]) ?? []);
}

function dataBytes(source: JsonRecord): number {
  return textOf(source["data"])?.length ?? 0;
}

function reasoningOf(body: JsonRecord): string | number | null {
  const thinking = recordOf(body["thinking"]);
  const effort = textOf(recordOf(body["output_config"])["effort"]);
  return effort ?? numberOf(thinking["budget_tokens"]) ?? textOf(thinking["type"]);
}

function serverTool(tool: JsonRecord): string[] {
  const type = textOf(tool["type"]);
  if (type === null || CLIENT_TOOLS.some((client) => type.startsWith(client))) return [];
  return [`tool ${type}`];
}

function unboundedBlock(block: JsonRecord): string[] {
  const type = textOf(block["type"]) ?? "";
  const source = recordOf(block["source"]);
  // Plain text in a document costs its bytes; a PDF's pages do not show in them.
  if (type === "document" && source["type"] === "text") return [];
  if (UNBOUNDED_BLOCKS.has(type) || source["type"] === "file") return [`block ${type}`];
  return [];
}

/** Server-side compaction is a model call of its own. */
function compactions(body: JsonRecord): string[] {
  return listOf(recordOf(body["context_management"])["edits"]).flatMap((edit) => {
    const type = textOf(recordOf(edit)["type"]) ?? "";
    return type.startsWith("compact") ? [`edit ${type}`] : [];
  });
}
