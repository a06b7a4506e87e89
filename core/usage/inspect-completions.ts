import { listOf, numberOf, recordOf, textOf } from "./json-view.ts";
import type { JsonRecord } from "./json-view.ts";
import { oddCount, presentFields, unlistedValue } from "./request-facts.ts";
import type { RequestFacts } from "./request-facts.ts";

/** `plugins` and `web_search_options` run at the provider; predicted and discarded tokens are billed unseen. */
const UNBOUNDED_FIELDS = [
  "web_search_options",
  "plugins",
  "best_of",
  "use_beam_search",
  "audio",
  "prediction",
  "search_parameters",
];
const CLIENT_TOOLS = new Set(["function", "custom"]);
const BOUNDED_PARTS = new Set(["text", "image_url", "refusal", "thinking", "reasoning"]);

export function inspectCompletions(body: JsonRecord): RequestFacts {
  const messages = listOf(body["messages"]).map(recordOf);
  const parts = messages.flatMap((message) => listOf(message["content"]).map(recordOf));
  const images = parts.filter((part) => part["type"] === "image_url");
  const tools = listOf(body["tools"]).map(recordOf);
  const limit = Math.max(
    numberOf(body["max_tokens"]) ?? -1,
    numberOf(body["max_completion_tokens"]) ?? -1,
  );
  const format = recordOf(body["response_format"]);
  const schema = recordOf(recordOf(format["json_schema"])["schema"]);
  return {
    model: textOf(body["model"]),
    stream: body["stream"] === true,
    sampling: {
      max_tokens: limit < 0 ? null : limit,
      temperature: numberOf(body["temperature"]),
      top_p: numberOf(body["top_p"]),
      top_k: numberOf(body["top_k"]),
      seed: numberOf(body["seed"]),
      n: numberOf(body["n"]),
      reasoning: reasoningOf(body),
    },
    choices: Math.max(1, numberOf(body["n"]) ?? 1),
    outputLimit: limit < 0 ? null : limit,
    tools: tools.length + listOf(body["functions"]).length,
    messages: messages.length,
    hasMessages: messages.length > 0,
    hasInput: false,
    images: {
      count: images.length,
      bytes: images.reduce((sum, image) => sum + urlBytes(image["image_url"]), 0),
    },
    unbounded: [
      ...presentFields(body, UNBOUNDED_FIELDS),
      ...["n", "max_tokens", "max_completion_tokens"].flatMap((name) => oddCount(body, [name])),
      ...unlistedValue(body, "service_tier", ["auto", "default", "standard"]),
      ...listOf(body["modalities"]).flatMap((kind) =>
        kind === "text" ? [] : [`modality ${JSON.stringify(kind)}`],
      ),
      ...new Set(tools.flatMap(({ type }) => unlisted("tool", type ?? "function", CLIENT_TOOLS))),
      ...new Set(parts.flatMap(({ type }) => unlisted("part", type, BOUNDED_PARTS))),
    ],
    otherModels: listOf(body["models"]).flatMap((model) => textOf(model) ?? []),
    systemTexts: textsIn(
      messages.find(({ role }) => role === "system" || role === "developer")?.["content"],
    ),
    lastUserTexts: textsIn(messages.findLast(({ role }) => role === "user")?.["content"]),
    answerKeys:
      Object.keys(schema).length === 0 ? null : Object.keys(recordOf(schema["properties"])),
  };
}

function textsIn(content: unknown): string[] {
  const plain = textOf(content);
  if (plain !== null) return [plain];
  return listOf(content).flatMap((part) => textOf(recordOf(part)["text"]) ?? []);
}

function urlBytes(image: unknown): number {
  return (textOf(image) ?? textOf(recordOf(image)["url"]) ?? "").length;
}

function reasoningOf(body: JsonRecord): string | number | null {
  const { effort, max_tokens: budget } = recordOf(body["reasoning"]);
  return (
    textOf(body["reasoning_effort"]) ??
    textOf(effort) ??
    numberOf(budget) ??
    textOf(recordOf(body["thinking"])["type"])
  );
}

function unlisted(what: string, type: unknown, listed: ReadonlySet<string>): string[] {
  return typeof type === "string" && listed.has(type) ? [] : [`${what} ${JSON.stringify(type)}`];
}
