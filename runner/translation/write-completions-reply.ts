import { sse } from "../proxy/assemble/reply-assembler.ts";
import type { AgentReplyFacts, ReplyEnd, ReplyStream } from "./agent-reply.ts";
import type { ReplyBlock } from "./block-collector.ts";
import type { BlockHead, StopKind } from "./reply-piece.ts";
import { toldUsage } from "./told-usage.ts";

type Fields = Readonly<Record<string, unknown>>;

const STOPS: Readonly<Record<StopKind, string>> = {
  turn: "stop",
  calls: "tool_calls",
  length: "length",
  "stop-sequence": "stop",
  refusal: "content_filter",
};

/** A reply as a stream of Chat Completions; thoughts go as `reasoning_content`, as most servers do it. */
export class CompletionsStream implements ReplyStream {
  readonly #facts: AgentReplyFacts;
  #kind: BlockHead["kind"] = "text";
  #calls = 0;

  constructor(facts: AgentReplyFacts) {
    this.#facts = facts;
  }

  begin(): string {
    return this.#chunk({ role: "assistant", content: "" });
  }

  open(head: BlockHead): string {
    this.#kind = head.kind;
    if (head.kind !== "call") return "";
    this.#calls += 1;
    const named = { name: head.name, arguments: "" };
    const call = { index: this.#calls - 1, id: head.id, type: "function", function: named };
    return this.#chunk({ tool_calls: [call] });
  }

  add(text: string): string {
    if (this.#kind === "text") return this.#chunk({ content: text });
    if (this.#kind === "thought") return this.#chunk({ reasoning_content: text });
    const call = { index: this.#calls - 1, function: { arguments: text } };
    return this.#chunk({ tool_calls: [call] });
  }

  close(): string {
    return "";
  }

  end(end: ReplyEnd): string {
    const usage = toldUsage("openai-completions", end.reading);
    const head = chunkHead(this.#facts);
    return (
      this.#chunk({}, STOPS[end.stop]) +
      (usage === null ? "" : sse(null, { ...head, choices: [], usage })) +
      sse(null, "[DONE]")
    );
  }

  #chunk(delta: Fields, finishReason: string | null = null): string {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
    return sse(null, { ...chunkHead(this.#facts), choices: [choice] });
  }
}

export function wholeCompletions(
  facts: AgentReplyFacts,
  { blocks, end }: { readonly blocks: readonly ReplyBlock[]; readonly end: ReplyEnd },
): Fields {
  const textOf = (kind: "text" | "thought"): string =>
    blocks.flatMap(({ head, text }) => (head.kind === kind ? [text] : [])).join("");
  const thought = textOf("thought");
  const text = textOf("text");
  const calls = blocks.flatMap(({ head, text: json }) =>
    head.kind === "call"
      ? [{ id: head.id, type: "function", function: { name: head.name, arguments: json } }]
      : [],
  );
  const message = {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(thought === "" ? {} : { reasoning_content: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const usage = toldUsage("openai-completions", end.reading);
  return {
    ...chunkHead(facts),
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: STOPS[end.stop] }],
    ...(usage === null ? {} : { usage }),
  };
}

function chunkHead({ id, createdSec, model }: AgentReplyFacts): Fields {
  return { id: `chatcmpl-${id}`, object: "chat.completion.chunk", created: createdSec, model };
}
