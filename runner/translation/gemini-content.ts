import { isRecord, listOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import { Untranslatable } from "./conversation.ts";
import type { AssistantPart, ContentPart, ResultPart } from "./conversation.ts";
import { requiredName } from "./required-fields.ts";
import type { TurnBuilder } from "./turn-builder.ts";

/**
 * A call without an id is known by its name and its place: the results of a turn come in the order of
 * its calls.
 */
class OpenCalls {
  #count = 0;
  readonly #open: { readonly name: string; readonly id: string }[] = [];

  open(name: string): string {
    this.#count += 1;
    const id = `call_${String(this.#count)}`;
    this.#open.push({ name, id });
    return id;
  }

  close(name: string): string {
    const at = this.#open.findIndex((call) => call.name === name);
    const [found] = at === -1 ? [] : this.#open.splice(at, 1);
    return found?.id ?? `call_of_${name}`;
  }
}

/** Reads Gemini's `contents` into turns. Throws `Untranslatable`. */
export function readGeminiContent(contents: readonly unknown[], turns: TurnBuilder): void {
  const calls = new OpenCalls();
  for (const content of contents) {
    const { role, parts } = recordOf(content);
    const fields = listOf(parts).map(recordOf);
    if (role === "model") turns.addAssistant(fields.map((part) => modelPart(part, calls)));
    else readUserParts(fields, turns, calls);
  }
}

function modelPart(part: JsonRecord, calls: OpenCalls): AssistantPart {
  const text = textOf(part["text"]);
  if (text !== null && part["thought"] === true)
    return { kind: "thought", text, seal: null, isHidden: false };
  if (text !== null) return { kind: "text", text };
  const called = part["functionCall"] ?? part["function_call"];
  if (!isRecord(called)) throw new Untranslatable(`a part of the model with ${fieldsOf(part)}`);
  const name = requiredName(called["name"], "a tool call without a name");
  return {
    kind: "call",
    id: idOf(called) ?? calls.open(name),
    name,
    arguments: JSON.stringify(called["args"] ?? {}),
    seal: null,
  };
}

function readUserParts(parts: readonly JsonRecord[], turns: TurnBuilder, calls: OpenCalls): void {
  const said: ContentPart[] = [];
  for (const part of parts) {
    const response = part["functionResponse"] ?? part["function_response"];
    if (response === undefined) said.push(contentPart(part));
    else turns.addResult(resultPart(recordOf(response), calls));
  }
  turns.addUser(said);
}

function contentPart(part: JsonRecord): ContentPart {
  const text = textOf(part["text"]);
  if (text !== null) return { kind: "text", text };
  const inline = recordOf(part["inlineData"] ?? part["inline_data"]);
  const mediaType = textOf(inline["mimeType"] ?? inline["mime_type"]);
  const data = textOf(inline["data"]);
  if (mediaType === null || data === null)
    throw new Untranslatable(`a part with ${fieldsOf(part)}`);
  if (!mediaType.startsWith("image/")) throw new Untranslatable(`data of type ${mediaType}`);
  return { kind: "image", source: { mediaType, data }, detail: null };
}

/** Agents tell text under `output` and failures under `error`; anything else goes as the JSON it is. */
function resultPart(response: JsonRecord, calls: OpenCalls): ResultPart {
  const told = recordOf(response["response"]);
  const error = textOf(told["error"]);
  const isPlain = Object.keys(told).length === 1;
  const text = isPlain ? (textOf(told["output"]) ?? error) : null;
  return {
    kind: "result",
    callId:
      idOf(response) ?? calls.close(requiredName(response["name"], "a tool result without a name")),
    isError: error !== null,
    content: [
      { kind: "text", text: text ?? JSON.stringify(told) },
      ...listOf(response["parts"]).map((part) => contentPart(recordOf(part))),
    ],
  };
}

/** Of a call or its result; most agents send none. */
function idOf({ id }: JsonRecord): string | null {
  return id === "" ? null : textOf(id);
}

function fieldsOf(part: JsonRecord): string {
  return Object.keys(part).join(", ") || "no fields";
}
