import { messageOf } from "../../core/errors.ts";
import type {
  ModelUpstream,
  UpstreamError,
  UpstreamReply,
} from "../../core/ports/model-upstream.ts";
import type { SpendLease } from "../../core/ports/spend-gate.ts";
import { TranslationError } from "../translation/translation-error.ts";
import { CallStop } from "./call-guard.ts";
import { forwardCall } from "./forward-call.ts";
import { agentHeaders, translatedHeaders, upstreamHeaders } from "./header-lists.ts";
import { passError } from "./pass-error.ts";
import { priceCall } from "./price-call.ts";
import type { PricedCall } from "./price-call.ts";
import type { PreparedCall } from "./prepare-call.ts";
import type { ProxyContext } from "./proxy-context.ts";
import { refuseCall, stopAndRefuse } from "./refuse-call.ts";
import { isBrokenOff, relayReply } from "./relay-reply.ts";
import { reserveSpend } from "./reserve-spend.ts";
import type { HeldCall, Reservation } from "./reserve-spend.ts";
import { UNUSED, settleCall } from "./settle-call.ts";
import type { Settlement } from "./settle-call.ts";

export interface ModelCall extends HeldCall {
  readonly call: PreparedCall;
  readonly upstream: ModelUpstream;
  readonly query: ReadonlyMap<string, string>;
  readonly agentHeaders: Parameters<typeof upstreamHeaders>[0];
}

/**
 * One call for a model's answer, from its reservation to its settlement: money is set aside first,
 * and whatever happens afterwards it is settled once. Never rejects.
 */
export async function serveCall(context: ProxyContext, served: ModelCall): Promise<void> {
  const { record, call } = served;
  const at = record.startedAt;
  const card = context.prices.find({
    provider: served.upstream.provider,
    model: call.modelSent,
    at,
  });
  const priced = priceCall(call, card, context.modelLimits);
  const reservation = await reserve(context, served, priced);
  if (reservation.kind !== "lease") return refuseUnpaid(context, served, reservation);
  const visible = { requestBytes: call.bytes.length, outputChars: 0 };
  try {
    visible.outputChars = await spend(context, served, priced);
    record.outputChars = visible.outputChars;
  } finally {
    const settlement = record.isOpen ? settleCall(record, priced, visible) : UNUSED;
    settle(context, served, { lease: reservation.lease, settlement });
  }
}

type Reserved =
  | Reservation
  | { readonly kind: "stopped"; readonly stop: CallStop }
  | { readonly kind: "failed"; readonly message: string };

async function reserve(
  context: ProxyContext,
  served: ModelCall,
  { claim }: PricedCall,
): Promise<Reserved> {
  try {
    return await reserveSpend(context, served, claim);
  } catch (thrown) {
    const { signal } = served.guard;
    if (signal.aborted && signal.reason instanceof CallStop)
      return { kind: "stopped", stop: signal.reason };
    return { kind: "failed", message: messageOf(thrown) };
  }
}

function refuseUnpaid(
  context: ProxyContext,
  served: ModelCall,
  reservation: Exclude<Reserved, { kind: "lease" }>,
): void {
  switch (reservation.kind) {
    case "stopped":
      return endStopped(served, reservation.stop);
    case "failed":
      // Without its ledger nobody knows what may still be spent.
      return stopAndRefuse(context, served, { reason: "ledger", message: reservation.message });
    case "held-too-long":
      return refuseCall(served, {
        status: 503,
        code: "held_too_long",
        message: "the budget is still taken by other calls",
        retryAfterSec: context.limits.retryAfterSec,
      });
    case "refused": {
      const { reason, message } = reservation;
      if (reason === "unbounded" || reason === "unpriced")
        return refuseCall(served, { status: 400, code: reason, message });
      return stopAndRefuse(context, served, { reason, message });
    }
  }
}

/** Sends the call and answers the agent; how it ended is in the record. The output's characters. */
async function spend(
  context: ProxyContext,
  served: ModelCall,
  { claim }: PricedCall,
): Promise<number> {
  const { record, call, guard } = served;
  const sentHeaders =
    call.translation === null
      ? upstreamHeaders(served.agentHeaders)
      : translatedHeaders(served.agentHeaders, call.sentProtocol);
  Object.assign(record.requestHeaders, sentHeaders);
  let outputChars = 0;
  try {
    const forwarded = await forwardCall(context, served, {
      upstream: served.upstream,
      call: {
        model: call.modelSent,
        stream: call.facts.stream,
        query: call.translation === null ? served.query : translatedQuery(call),
        headers: record.requestHeaders,
        body: call.bytes,
        signal: guard.signal,
      },
    });
    if (forwarded.kind === "reply")
      Object.assign(
        record.responseHeaders,
        agentHeaders(forwarded.reply.headers, context.redactor),
      );
    if (forwarded.kind === "failed") answerUnreached(served, forwarded.error);
    else if (forwarded.reply.status >= 300) await passError(context, served, forwarded.reply);
    else outputChars = await relay(context, served, { reply: forwarded.reply, claim });
  } catch (thrown) {
    if (!(thrown instanceof CallStop)) throw thrown;
    endStopped(served, thrown);
  }
  record.status = served.agent.status;
  return outputChars;
}

/** Of a translated call: Gemini alone has its streams as events only when asked. */
function translatedQuery({ sentProtocol, facts }: PreparedCall): ReadonlyMap<string, string> {
  return new Map(sentProtocol === "gemini" && facts.stream ? [["alt", "sse"]] : []);
}

async function relay(
  context: ProxyContext,
  served: ModelCall,
  { reply, claim }: { readonly reply: UpstreamReply; readonly claim: PricedCall["claim"] },
): Promise<number> {
  const { record, agent } = served;
  // One answer's share of what was reserved.
  const isBound = !claim.unbounded.includes("output without a limit");
  const outputCap = isBound ? claim.tokens.output : null;
  const { outputChars, failure } = await relayReply(context, { ...served, outputCap }, reply);
  record.outputChars = outputChars;
  if (failure instanceof CallStop) endStopped(served, failure);
  else if (failure instanceof TranslationError) answerUntold(context, served, failure);
  else if (isBrokenOff(failure)) {
    record.end = "cut";
    agent.cut();
  } else if (failure !== null) throw failure;
  return outputChars;
}

/** A reply of the provider's that is no answer in the agent's protocol: the agent gets an error in its own. */
function answerUntold(
  { redactor }: ProxyContext,
  { record, agent, call }: ModelCall,
  { failure, message }: TranslationError,
): void {
  // A page of a gateway's is told as what it is; anything else has broken off for the agent.
  if (failure === "unreadable" && record.replyFailure === null) record.end = "cut";
  const status = record.replyFailure === "rejected" ? 400 : 502;
  agent.sendError(call.protocol, {
    status,
    code: `reply_${failure}`,
    message: redactor.knownIn(message),
  });
}

function answerUnreached({ record, agent, call }: ModelCall, error: UpstreamError): void {
  record.end = "unreachable";
  record.responseBody = error.message;
  agent.sendError(call.protocol, {
    status: 502,
    code: "provider_unreachable",
    message: error.message,
  });
}

/** A call that we ended: by a limit, because the agent went away, or because the trial was stopped. */
function endStopped({ record, agent, call }: ModelCall, { kind }: CallStop): void {
  if (kind === "gone" || kind === "stopped") {
    record.end = kind === "gone" ? "aborted" : "stopped";
    agent.cut();
    return;
  }
  record.end = "timeout";
  if (kind === "given-up") return agent.cut();
  // Within a stream an error could be taken for an end; a break cannot.
  if (agent.isCommitted && record.ttfbMs !== null) return agent.cut();
  agent.sendError(call.protocol, {
    status: 504,
    code: "provider_timeout",
    message: `no answer from the provider within its ${kind} limit`,
  });
}

function settle(
  { gate, state }: ProxyContext,
  { record }: ModelCall,
  { lease, settlement }: { readonly lease: SpendLease; readonly settlement: Settlement },
): void {
  const { anomaly, isOver } = settlement;
  record.cost = settlement.cost;
  record.anomaly = anomaly;
  state.trackSettlement(gate.settle(lease, settlement.actual));
  if (anomaly === null) return;
  state.tell({ type: "anomaly", index: record.index, message: anomaly });
  if (isOver) state.stop("anomaly", anomaly);
}
