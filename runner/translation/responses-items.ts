import { parseJson, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { KnownTool } from "./responses-tools.ts";
import type { BlockHead } from "./reply-piece.ts";

type Fields = Readonly<Record<string, unknown>>;

/** An event of the stream, without its number. */
export type ResponsesEvent = { readonly type: string } & Fields;

/** One item of a Responses reply: how it begins, grows and ends. */
export interface ResponsesItem {
  readonly opened: Fields;
  /** Between its beginning and its first text. */
  readonly first: readonly ResponsesEvent[];
  delta(text: string): ResponsesEvent[];
  whole(text: string): Fields;
  last(text: string): readonly ResponsesEvent[];
}

export interface ItemPlace {
  readonly item_id: string;
  readonly output_index: number;
}

export function responsesItem(
  head: BlockHead,
  at: ItemPlace,
  tools: ReadonlyMap<string, KnownTool>,
): ResponsesItem {
  switch (head.kind) {
    case "thought":
      return thoughtItem(at);
    case "text":
      return messageItem(at);
    case "call": {
      const known = tools.get(head.name) ?? { name: head.name, namespace: null, isCustom: false };
      return known.isCustom
        ? customItem(at, head.id, known.name)
        : functionItem(at, head.id, known);
    }
  }
}

function summaryPart(text: string): Fields {
  return { type: "summary_text", text };
}

function outputPart(text: string): Fields {
  return { type: "output_text", text, annotations: [] };
}

function thoughtItem(at: ItemPlace): ResponsesItem {
  const place = { ...at, summary_index: 0 };
  const base = { id: at.item_id, type: "reasoning" };
  const event = `response.reasoning_summary`;
  return {
    opened: { ...base, summary: [] },
    first: [{ type: `${event}_part.added`, ...place, part: summaryPart("") }],
    delta: (delta) => [{ type: `${event}_text.delta`, ...place, delta }],
    whole: (text) => ({ ...base, summary: [summaryPart(text)], encrypted_content: null }),
    last: (text) => [
      { type: `${event}_text.done`, ...place, text },
      { type: `${event}_part.done`, ...place, part: summaryPart(text) },
    ],
  };
}

function messageItem(at: ItemPlace): ResponsesItem {
  const place = { ...at, content_index: 0 };
  const base = { id: at.item_id, type: "message", role: "assistant" };
  return {
    opened: { ...base, status: "in_progress", content: [] },
    first: [{ type: "response.content_part.added", ...place, part: outputPart("") }],
    delta: (delta) => [{ type: "response.output_text.delta", ...place, delta }],
    whole: (text) => ({ ...base, status: "completed", content: [outputPart(text)] }),
    last: (text) => [
      { type: "response.output_text.done", ...place, text },
      { type: "response.content_part.done", ...place, part: outputPart(text) },
    ],
  };
}

function functionItem(
  at: ItemPlace,
  callId: string,
  { name, namespace }: KnownTool,
): ResponsesItem {
  const spaced = namespace === null ? {} : { namespace };
  const base = { id: at.item_id, type: "function_call", call_id: callId, name, ...spaced };
  const event = "response.function_call_arguments";
  return {
    opened: { ...base, status: "in_progress", arguments: "" },
    first: [],
    delta: (delta) => [{ type: `${event}.delta`, ...at, delta }],
    whole: (text) => ({ ...base, status: "completed", arguments: text }),
    last: (text) => [{ type: `${event}.done`, ...at, arguments: text }],
  };
}

/** Its text stands within the arguments' JSON, so it can only be told when that is whole. */
function customItem(at: ItemPlace, callId: string, name: string): ResponsesItem {
  const base = { id: at.item_id, type: "custom_tool_call", call_id: callId, name };
  const event = "response.custom_tool_call_input";
  return {
    opened: { ...base, status: "in_progress", input: "" },
    first: [],
    delta: () => [],
    whole: (text) => ({ ...base, status: "completed", input: inputOf(text) }),
    last: (text) => [
      { type: `${event}.delta`, ...at, delta: inputOf(text) },
      { type: `${event}.done`, ...at, input: inputOf(text) },
    ],
  };
}

/** What the model wrote in place of the one argument is the input all the same. */
function inputOf(json: string): string {
  return textOf(recordOf(parseJson(json))["input"]) ?? json;
}
