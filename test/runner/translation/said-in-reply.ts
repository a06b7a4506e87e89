import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { listOf, recordOf, textOf } from "../../../core/usage/json-view.ts";
import type { JsonRecord } from "../../../core/usage/json-view.ts";
import { withoutIds } from "./translate-reply.ts";

/** The words and the calls of a reply. */
export interface Said {
  readonly reasoning: string | null;
  readonly text: string | null;
  readonly args: readonly JsonRecord[];
}

/** The same out of the agent's own protocol. */
export function saidIn(protocol: ModelProtocol, body: unknown): Said {
  const fields = recordOf(body);
  switch (protocol) {
    case "anthropic-messages":
      return ofBlocks(records(fields["content"]));
    case "openai-completions":
      return ofMessage(recordOf(recordOf(listOf(fields["choices"])[0])["message"]));
    case "openai-responses":
      return ofItems(records(fields["output"]));
    case "gemini": {
      const candidate = recordOf(listOf(fields["candidates"])[0]);
      return ofParts(records(recordOf(candidate["content"])["parts"]));
    }
  }
}

function records(value: unknown): JsonRecord[] {
  return listOf(value).map(recordOf);
}

function joined(texts: readonly unknown[]): string | null {
  return texts.length === 0 ? null : texts.join("");
}

function parsed(json: unknown): JsonRecord {
  return recordOf(JSON.parse(textOf(json) ?? "null"));
}

function ofBlocks(blocks: readonly JsonRecord[]): Said {
  const of = (type: string): JsonRecord[] => blocks.filter((block) => block["type"] === type);
  return {
    reasoning: joined(of("thinking").map(({ thinking }) => thinking)),
    text: joined(of("text").map(({ text }) => text)),
    args: of("tool_use").map(({ input }) => recordOf(input)),
  };
}

function ofMessage(message: JsonRecord): Said {
  const text = textOf(message["content"]);
  return {
    reasoning: textOf(message["reasoning_content"]),
    text: text === "" ? null : text,
    args: records(message["tool_calls"]).map((call) =>
      parsed(recordOf(call["function"])["arguments"]),
    ),
  };
}

function ofItems(items: readonly JsonRecord[]): Said {
  const of = (type: string): JsonRecord[] => items.filter((item) => item["type"] === type);
  const texts = (type: string, field: string): unknown[] =>
    of(type).flatMap((item) => records(item[field]).map(({ text }) => text));
  return {
    reasoning: joined(texts("reasoning", "summary")),
    text: joined(texts("message", "content")),
    args: of("function_call").map((item) => parsed(item["arguments"])),
  };
}

function ofParts(parts: readonly JsonRecord[]): Said {
  const said = parts.filter(({ text }) => text !== undefined && text !== "");
  const calls = parts.filter(({ functionCall }) => functionCall !== undefined);
  return {
    reasoning: joined(said.filter(({ thought }) => thought === true).map(({ text }) => text)),
    text: joined(said.filter(({ thought }) => thought !== true).map(({ text }) => text)),
    args: calls.map(({ functionCall }) => recordOf(recordOf(functionCall)["args"])),
  };
}

/** What an agent acts on, without the ids that the proxy gives: words, calls, and why it stopped. */
export function actedOn(protocol: ModelProtocol, body: unknown): unknown {
  const plain: unknown = JSON.parse(withoutIds(JSON.stringify(body)));
  const { stop_reason: stop, choices, status, candidates } = recordOf(plain);
  const first = recordOf(listOf(choices)[0] ?? listOf(candidates)[0]);
  const ends = [stop, status, first["finish_reason"], first["finishReason"]];
  return { said: saidIn(protocol, plain), ends, ids: idsIn(plain) };
}

/** The ids of its calls, which results will name. */
function idsIn(body: unknown): string[] {
  const found = JSON.stringify(body).matchAll(/"(?:call_id|id)":"((?:toolu|call)_[^"]*)"/gu);
  return [...found].map(([, id]) => id ?? "");
}
