import { UpstreamError } from "../../core/ports/model-upstream.ts";
import type {
  ModelUpstream,
  UpstreamCall,
  UpstreamReply,
} from "../../core/ports/model-upstream.ts";
import type { ProxyContext } from "./proxy-context.ts";
import { holdWhile } from "./reserve-spend.ts";
import type { HeldCall } from "./reserve-spend.ts";

/** Statuses that another try may change and that providers do not bill. */
const PASSING = new Set([429, 500, 502, 503, 529]);

export type Forwarded =
  | { readonly kind: "reply"; readonly reply: UpstreamReply }
  | { readonly kind: "failed"; readonly error: UpstreamError };

/**
 * Sends a call, and again while the provider is only busy or cannot be reached: agents differ widely
 * in how they take a 429, and some end their turn on the first (notes/agents 6). Never again after a
 * request was sent and got no answer: that one may be billed. The waits are held time. Rejects with the
 * guard's reason when the call is stopped.
 */
export async function forwardCall(
  context: ProxyContext,
  held: HeldCall,
  { upstream, call }: { readonly upstream: ModelUpstream; readonly call: UpstreamCall },
): Promise<Forwarded> {
  const { limits, clock } = context;
  const deadline = clock.monotonicMs() + limits.maxHoldMs;
  for (;;) {
    held.record.upstreamTries += 1;
    held.record.upstreamStatus = null;
    held.record.isOpen = true;
    held.guard.awaitFirstByte();
    const outcome = await sendOnce(upstream, call);
    held.record.isOpen = mayStillBeBilled(outcome);
    if (outcome.kind === "reply") held.record.upstreamStatus = outcome.reply.status;
    const waitMs = retryWait(outcome, held.record.upstreamTries, limits.retryMs);
    const isLast = held.record.upstreamTries >= limits.upstreamTries;
    if (waitMs === null || isLast || clock.monotonicMs() + waitMs > deadline) return outcome;
    held.guard.pause();
    if (outcome.kind === "reply") await discard(outcome.reply);
    await holdWhile(context, held, () => clock.sleep(waitMs, held.guard.signal));
  }
}

async function sendOnce(upstream: ModelUpstream, call: UpstreamCall): Promise<Forwarded> {
  try {
    return { kind: "reply", reply: await upstream.send(call) };
  } catch (thrown) {
    if (thrown instanceof UpstreamError) return { kind: "failed", error: thrown };
    throw thrown;
  }
}

/** An answer that is a refusal is final; one that is good, or lost, may cost something. */
function mayStillBeBilled(outcome: Forwarded): boolean {
  if (outcome.kind === "failed") return outcome.error.failure !== "unsent";
  return !PASSING.has(outcome.reply.status);
}

/** How long to wait before the next try; null when there should be none. */
function retryWait(outcome: Forwarded, tries: number, firstMs: number): number | null {
  const backOffMs = firstMs * 2 ** (tries - 1);
  if (outcome.kind === "failed") return outcome.error.failure === "unsent" ? backOffMs : null;
  const { status, headers } = outcome.reply;
  if (!PASSING.has(status)) return null;
  return Math.max(retryAfterMs(headers) ?? 0, backOffMs);
}

/** Seconds, as all model providers give it, or a date. */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  nowMs = Date.now(),
): number | null {
  const exact = Number(headers["retry-after-ms"]);
  if (headers["retry-after-ms"] !== undefined && Number.isFinite(exact)) return Math.max(0, exact);
  const value = headers["retry-after"];
  if (value === undefined) return null;
  const seconds = Number(value);
  if (value.trim() !== "" && Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

/** Reads a small body to its end, so that the connection can serve again; leaves a large one. */
async function discard(reply: UpstreamReply): Promise<void> {
  let left = 64 * 1024;
  try {
    for await (const chunk of reply.body) {
      left -= chunk.length;
      if (left < 0) break;
    }
  } catch (thrown) {
    // The status is all that was wanted of this answer.
    if (!(thrown instanceof UpstreamError)) throw thrown;
  }
}
