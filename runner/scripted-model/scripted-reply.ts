import { randomUUID } from "node:crypto";

/** A tool of a request, whatever protocol it came in. */
export interface OfferedTool {
  readonly name: string;
  readonly type: string | null;
  readonly schema: Record<string, unknown>;
}

export interface ReplyCall {
  readonly tool: OfferedTool;
  readonly args: Record<string, unknown>;
}

/** A turn made ready for one request: what to say, which of its tools to call, what it cost. */
export interface ScriptedReply {
  readonly model: string;
  readonly reasoning: string | null;
  readonly text: string | null;
  readonly calls: readonly ReplyCall[];
  readonly stop: string | null;
  /** The usage object of a stream's end or a whole body, in the protocol's own shape. */
  readonly usage: Record<string, unknown>;
}

export interface StreamEvent {
  /** The `event:` line; null where the protocol has none. */
  readonly name: string | null;
  readonly data: unknown;
}

/** A reply in one protocol, as a whole and as a stream. */
export interface RenderedReply {
  readonly body: Record<string, unknown>;
  readonly events: readonly StreamEvent[];
}

export function newId(prefix: string): string {
  return prefix + randomUUID().replaceAll("-", "").slice(0, 24);
}

const PIECE_LENGTH = 24;
const MAX_PIECES = 500;

/** Text as a model streams it, in small pieces that never split a character; a huge one in larger. */
export function pieces(text: string): string[] {
  const length = Math.max(PIECE_LENGTH, Math.ceil(text.length / MAX_PIECES));
  const result: string[] = [];
  let at = 0;
  while (at < text.length) {
    const last = text.charCodeAt(at + length - 1);
    const end = at + length + (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
    result.push(text.slice(at, end));
    at = end;
  }
  return result;
}

export function nowSec(): number {
  return Math.floor(Date.now() / 1000);
}
