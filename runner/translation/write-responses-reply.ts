import { sse } from "../proxy/assemble/reply-assembler.ts";
import type { AgentReplyFacts, ReplyEnd, ReplyStream } from "./agent-reply.ts";
import type { ReplyBlock } from "./block-collector.ts";
import { responsesItem } from "./responses-items.ts";
import type { ItemPlace, ResponsesEvent, ResponsesItem } from "./responses-items.ts";
import type { BlockHead } from "./reply-piece.ts";
import { toldUsage } from "./told-usage.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Why a reply is not complete, where it is not. */
const INCOMPLETE: ReadonlyMap<string, string> = new Map([
  ["length", "max_output_tokens"],
  ["refusal", "content_filter"],
]);

const PREFIXES = { thought: "rs", text: "msg", call: "fc" } as const;

/** A reply as a stream of Responses: numbered events, and the whole reply again at the end. */
export class ResponsesStream implements ReplyStream {
  readonly #facts: AgentReplyFacts;
  readonly #done: Fields[] = [];
  #sequence = 0;
  #item: ResponsesItem | null = null;
  #pieces: string[] = [];

  constructor(facts: AgentReplyFacts) {
    this.#facts = facts;
  }

  begin(): string {
    const response = responseOf(this.#facts, { status: "in_progress", output: [], usage: null });
    return this.#events([
      { type: "response.created", response },
      { type: "response.in_progress", response },
    ]);
  }

  open(head: BlockHead): string {
    const at = placeOf(this.#facts, head, this.#done.length);
    this.#item = responsesItem(head, at, this.#facts.tools);
    this.#pieces = [];
    const added = {
      type: "response.output_item.added",
      output_index: at.output_index,
      item: this.#item.opened,
    };
    return this.#events([added, ...this.#item.first]);
  }

  add(text: string): string {
    this.#pieces.push(text);
    return this.#events(this.#item?.delta(text) ?? []);
  }

  close(): string {
    if (this.#item === null) return "";
    const text = this.#pieces.join("");
    const item = this.#item.whole(text);
    const done = {
      type: "response.output_item.done",
      output_index: this.#done.length,
      item,
    };
    const events = [...this.#item.last(text), done];
    this.#done.push(item);
    this.#item = null;
    return this.#events(events);
  }

  end(end: ReplyEnd): string {
    const response = endedResponse(this.#facts, this.#done, end);
    const type = INCOMPLETE.has(end.stop) ? "response.incomplete" : "response.completed";
    return this.#events([{ type, response }]);
  }

  #events(events: readonly ResponsesEvent[]): string {
    const texts = events.map(({ type, ...fields }) => {
      const sequence = this.#sequence;
      this.#sequence += 1;
      return sse(type, { type, sequence_number: sequence, ...fields });
    });
    return texts.join("");
  }
}

export function wholeResponses(
  facts: AgentReplyFacts,
  { blocks, end }: { readonly blocks: readonly ReplyBlock[]; readonly end: ReplyEnd },
): Fields {
  const output = blocks.map(({ head, text }, index) =>
    responsesItem(head, placeOf(facts, head, index), facts.tools).whole(text),
  );
  return endedResponse(facts, output, end);
}

function placeOf({ id }: AgentReplyFacts, head: BlockHead, index: number): ItemPlace {
  return { item_id: `${PREFIXES[head.kind]}_${id}${String(index)}`, output_index: index };
}

function endedResponse(
  facts: AgentReplyFacts,
  output: readonly Fields[],
  { stop, reading }: ReplyEnd,
): Fields {
  const reason = INCOMPLETE.get(stop);
  return responseOf(facts, {
    status: reason === undefined ? "completed" : "incomplete",
    ...(reason === undefined ? {} : { incomplete_details: { reason } }),
    output,
    usage: toldUsage("openai-responses", reading),
  });
}

function responseOf({ id, createdSec, model }: AgentReplyFacts, fields: Fields): Fields {
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: createdSec,
    model,
    error: null,
    incomplete_details: null,
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    ...fields,
  };
}
