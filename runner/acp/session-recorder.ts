import type { SessionUpdate } from "../../core/acp/acp-message.ts";
import {
  isPending,
  mergeToolCall,
  readToolCall,
  tellsNews,
  toolNameOf,
  type ToolCall,
  type ToolCallFields,
} from "../../core/acp/tool-call.ts";
import type { TrajectoryEvent } from "../../core/model/trajectory.ts";
import { recordBody } from "../proxy/record-body.ts";
import type { Redactor } from "../proxy/redact/redactor.ts";
import type { Trajectory } from "../trajectory.ts";
import { textOfUpdate } from "./update-text.ts";

export interface RecorderLimits {
  /** Longest text of one message, and longest string in what a tool got and gave. */
  readonly maxTextChars: number;
  /** Of a tool's input, its output and its content, as one update tells them. */
  readonly maxValueChars: number;
  /** Of all that is kept of one tool call. */
  readonly maxCallChars: number;
  /** Of the whole file. */
  readonly maxFileChars: number;
  /** Entries that wait behind a tool call that has not ended, before they are written without it. */
  readonly maxWaiting: number;
  /** Tool calls told apart; later ones are not kept. */
  readonly maxToolCalls: number;
}

export const RECORDER_LIMITS: RecorderLimits = {
  maxTextChars: 256 * 1024,
  maxValueChars: 64 * 1024,
  maxCallChars: 256 * 1024,
  maxFileChars: 64 * 1024 * 1024,
  maxWaiting: 100,
  maxToolCalls: 20_000,
};

interface TextEntry {
  readonly kind: "text";
  readonly type: "agent_message" | "agent_thought";
  readonly at: string;
  readonly pieces: string[];
  chars: number;
}

interface ToolEntry {
  readonly kind: "tool";
  readonly at: string;
  call: ToolCall;
  endedAt: string | null;
  chars: number;
}

type Entry = TextEntry | ToolEntry;

export interface RecorderParts {
  readonly trajectory: Pick<Trajectory, "record">;
  readonly redactor: Redactor;
  readonly now: () => Date;
  readonly limits?: RecorderLimits;
}

/**
 * Turns an agent's updates into the events of `acp_trajectory.jsonl` (spec 10.5): pieces of text that
 * follow each other are one event, the updates of a tool call are one event where the call began, each
 * with the time of its receipt. An event is written as soon as it is complete and all before it are;
 * `settle` writes the rest as it stands.
 */
export class SessionRecorder {
  readonly #parts: RecorderParts;
  readonly #limits: RecorderLimits;
  readonly #tools = new Map<string, ToolEntry>();
  readonly #seen = new Set<string>();
  #waiting: Entry[] = [];
  #writes: Promise<void> = Promise.resolve();
  #dropped = 0;
  /** Of the sessions before this one. */
  #earlierCalls = 0;
  #skills = 0;
  readonly #chunks = { agent_message: 0, agent_thought: 0 };
  #fileChars = 0;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#limits = parts.limits ?? RECORDER_LIMITS;
  }

  get toolCalls(): number {
    return this.#earlierCalls + this.#seen.size;
  }

  get skillInvocations(): number {
    return this.#skills;
  }

  get messageChunks(): number {
    return this.#chunks.agent_message;
  }

  get thoughtChunks(): number {
    return this.#chunks.agent_thought;
  }

  /** Whether the agent has said or done anything at all. */
  get hasActivity(): boolean {
    return this.toolCalls > 0 || this.messageChunks > 0 || this.thoughtChunks > 0;
  }

  /** Tool calls that have begun and, as far as the agent says, not ended. */
  pendingToolCalls(): string[] {
    return [...this.#tools.values()]
      .filter(({ call }) => isPending(call))
      .map(({ call }) => call.id);
  }

  /** Another session begins, whose tool calls may be called as those of the one before. */
  startSession(): void {
    this.#earlierCalls += this.#seen.size;
    this.#seen.clear();
  }

  /** Takes an update; true when it is a sign of life. */
  take({ update }: SessionUpdate): boolean {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "text_update":
        return this.#takeText("agent_message", textOfUpdate(update));
      case "agent_thought_chunk":
      case "agent_thought":
        return this.#takeText("agent_thought", textOfUpdate(update));
      case "tool_call":
      case "tool_call_update": {
        const fields = readToolCall(update);
        return fields !== null && this.#takeTool(fields);
      }
      default:
        return false;
    }
  }

  /** Writes everything that is known, complete or not, in order. Throws when the file failed. */
  async settle({ cancelled = false } = {}): Promise<void> {
    if (cancelled)
      for (const entry of this.#tools.values())
        if (isPending(entry.call)) entry.call = { ...entry.call, status: "cancelled" };
    this.#write(this.#waiting.splice(0));
    if (this.#dropped > 0) this.#record({ type: "events_dropped", events: this.#dropped });
    this.#dropped = 0;
    await this.#writes;
  }

  #takeText(type: TextEntry["type"], text: string | null): boolean {
    if (text === null || text === "") return false;
    this.#chunks[type] += 1;
    let entry = this.#waiting.at(-1);
    if (entry?.kind !== "text" || entry.type !== type) {
      entry = { kind: "text", type, at: this.#stamp(), pieces: [], chars: 0 };
      this.#push(entry);
    }
    const kept = text.slice(0, Math.max(0, this.#limits.maxTextChars - entry.chars));
    if (kept !== "") entry.pieces.push(kept);
    entry.chars += text.length;
    return true;
  }

  #takeTool(fields: ToolCallFields): boolean {
    const id = fields.toolCallId;
    const known = this.#tools.get(id);
    if (
      known === undefined &&
      (this.#seen.has(id) || this.#seen.size >= this.#limits.maxToolCalls)
    ) {
      this.#dropped += 1;
      return true;
    }
    const now = this.#stamp();
    const cut = this.#cut(fields, known?.chars ?? 0);
    const call = mergeToolCall(known?.call ?? null, cut);
    const endedAt = isPending(call) ? null : (known?.endedAt ?? now);
    const chars = (known?.chars ?? 0) + JSON.stringify(cut).length;
    if (known !== undefined) Object.assign(known, { call, endedAt, chars });
    else {
      this.#seen.add(id);
      const entry: ToolEntry = { kind: "tool", at: now, call, endedAt, chars };
      this.#tools.set(id, entry);
      this.#push(entry);
    }
    if (known === undefined && toolNameOf(fields) === "Skill") this.#skills += 1;
    return known === undefined || tellsNews(fields);
  }

  /** Cut and redacted at receipt, so that what waits is bounded whatever an agent sends. */
  #cut(fields: ToolCallFields, chars: number): ToolCallFields {
    const { toolCallId, title, kind, status } = fields;
    const isFull = chars > this.#limits.maxCallChars;
    const content = isFull ? null : this.#cutValue(fields.content ?? []);
    return {
      toolCallId,
      title: typeof title === "string" ? this.#text(title) : null,
      kind: kind?.slice(0, 100),
      status,
      content: Array.isArray(content) || content === null ? content : [content],
      rawInput: isFull ? undefined : this.#cutValue(fields.rawInput),
      rawOutput: isFull ? undefined : this.#cutValue(fields.rawOutput),
    };
  }

  #cutValue(value: unknown): unknown {
    if (value === undefined) return undefined;
    const limits = {
      maxStringChars: this.#limits.maxValueChars,
      maxBodyChars: this.#limits.maxValueChars,
    };
    const sizeChars = Number.POSITIVE_INFINITY;
    return recordBody({ value, sizeChars }, this.#parts.redactor, limits).body;
  }

  #text(text: string): string {
    return this.#parts.redactor.text(text.slice(0, 4096));
  }

  /** A new entry completes a text before it; whatever has no open tool call before it is written. */
  #push(entry: Entry): void {
    const first = this.#waiting.findIndex((each) => isOpen(each));
    const complete = first === -1 ? this.#waiting.length : first;
    this.#write(this.#waiting.splice(0, complete));
    if (this.#waiting.length >= this.#limits.maxWaiting) this.#writeBehindTools();
    this.#waiting.push(entry);
  }

  /** Calls that never end must not keep the rest of a session out of the file. */
  #writeBehindTools(): void {
    const open = this.#waiting.filter((each) => isOpen(each));
    this.#write(this.#waiting.filter((each) => !isOpen(each)));
    const keep = Math.floor(this.#limits.maxWaiting / 2);
    this.#write(open.slice(0, Math.max(0, open.length - keep)));
    this.#waiting = open.slice(-keep);
  }

  #write(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.kind === "text") this.#record(this.#textEvent(entry));
      else {
        this.#tools.delete(entry.call.id);
        this.#record(toolEvent(entry));
      }
    }
  }

  #textEvent({ type, at, pieces, chars }: TextEntry): TrajectoryEvent {
    const text = pieces.join("");
    const mark = chars > text.length ? `[${String(chars - text.length)} characters dropped]` : "";
    return { type, text: this.#parts.redactor.text(text) + mark, at_utc: at };
  }

  #record(event: TrajectoryEvent): void {
    this.#fileChars += JSON.stringify(event).length;
    if (this.#fileChars > this.#limits.maxFileChars && event.type !== "events_dropped") {
      this.#dropped += 1;
      return;
    }
    this.#writes = this.#writes.then(async () => await this.#parts.trajectory.record(event));
    // Told by `settle`; until then nobody waits for it.
    this.#writes.catch(() => undefined);
  }

  #stamp(): string {
    return this.#parts.now().toISOString();
  }
}

function isOpen(entry: Entry): boolean {
  return entry.kind === "tool" && isPending(entry.call);
}

function toolEvent({ call, at, endedAt }: ToolEntry): TrajectoryEvent {
  return {
    type: "tool_call",
    tool_call_id: call.id,
    kind: call.kind,
    title: call.title,
    status: call.status,
    content: [...call.content],
    raw_input: call.rawInput,
    raw_output: call.rawOutput,
    at_utc: at,
    ended_at_utc: endedAt,
  };
}
