import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Fault, ModelScript } from "../../core/model/model-script.ts";
import { untilDrained } from "../proxy/until-drained.ts";
import { newId } from "./scripted-reply.ts";
import type { RenderedReply, StreamEvent } from "./scripted-reply.ts";

export interface Delivery {
  readonly stream: boolean;
  readonly fault: Fault | null;
  readonly script: ModelScript;
}

/** Long enough that the bytes before a cut leave the machine, so that it is a cut and not a reset. */
const FLUSH_MS = 40;

/** Writes a reply, with whatever the fault does to it. Resolves when nothing more will be written. */
export async function deliverReply(
  response: ServerResponse,
  reply: RenderedReply,
  delivery: Delivery,
): Promise<void> {
  const { fault } = delivery;
  if (fault?.kind === "slow-first-byte") await delay(fault.delayMs);
  if (response.destroyed) return;
  const requestId = { "request-id": newId("req_") };
  if (!delivery.stream) return deliverBody(response, reply, { fault, headers: requestId });
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    ...requestId,
  });
  await deliverStream(response, reply.events, delivery);
}

async function deliverBody(
  response: ServerResponse,
  reply: RenderedReply,
  { fault, headers }: { readonly fault: Fault | null; readonly headers: Record<string, string> },
): Promise<void> {
  const text = JSON.stringify(fault?.kind === "no-usage" ? withoutUsage(reply.body) : reply.body);
  const isBroken = fault?.kind === "cut" || fault?.kind === "stall";
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  if (!isBroken) {
    response.end(text);
    return;
  }
  response.write(text.slice(0, Math.floor(text.length / 2)));
  await breakOff(response, fault.kind);
}

async function deliverStream(
  response: ServerResponse,
  events: readonly StreamEvent[],
  { fault, script }: Delivery,
): Promise<void> {
  const sent = fault?.kind === "no-usage" ? events.slice(0, lastBeforeUsage(events)) : events;
  for (const [index, event] of sent.entries()) {
    if ((fault?.kind === "cut" || fault?.kind === "stall") && index >= fault.events)
      return breakOff(response, fault.kind);
    await writePieces(response, eventText(event), script.pieceBytes);
    if (response.destroyed) return;
    if (script.eventDelayMs > 0) await delay(script.eventDelayMs);
  }
  response.end();
}

async function breakOff(response: ServerResponse, kind: "cut" | "stall"): Promise<void> {
  if (kind === "stall") return;
  await delay(FLUSH_MS);
  response.destroy();
}

async function writePieces(
  response: ServerResponse,
  text: string,
  pieceBytes: number | null,
): Promise<void> {
  const bytes = Buffer.from(text);
  const size = pieceBytes ?? bytes.length;
  for (let at = 0; at < bytes.length; at += size) {
    if (response.destroyed) return;
    const isFull = !response.write(bytes.subarray(at, at + size));
    if (isFull) await untilDrained(response);
  }
}

export function eventText({ name, data }: StreamEvent): string {
  const line = typeof data === "string" ? data : JSON.stringify(data);
  return `${name === null ? "" : `event: ${name}\n`}data: ${line}\n\n`;
}

/** Everything up to the first event that could tell a final usage. */
function lastBeforeUsage(events: readonly StreamEvent[]): number {
  const at = events.findIndex(({ name, data }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    const isFinish = /"finish_reason":"|"finishReason":"/u.test(text);
    return (
      isFinish || name === "message_delta" || /response\.(?:completed|incomplete)/u.test(name ?? "")
    );
  });
  return at === -1 ? events.length : at;
}

function withoutUsage(body: Record<string, unknown>): Record<string, unknown> {
  const { usage: _usage, usageMetadata: _metadata, ...rest } = body;
  return rest;
}
