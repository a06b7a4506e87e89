import { endTurnReply } from "./end-turn-reply.ts";
import type { AgentResponse } from "./agent-response.ts";
import type { CallRecord } from "./call-record.ts";
import type { ProxyError } from "./error-reply.ts";
import type { PreparedCall } from "./prepare-call.ts";
import type { ProxyContext } from "./proxy-context.ts";
import type { StopReason } from "./proxy-options.ts";

export interface RefusedCall {
  readonly record: CallRecord;
  readonly agent: AgentResponse;
  readonly call: PreparedCall;
  readonly query: ReadonlyMap<string, string>;
}

/** Refuses one request with an error; later ones may pass. */
export function refuseCall(
  { record, agent, call }: RefusedCall,
  error: ProxyError & { readonly retryAfterSec?: number },
): void {
  record.refuse(error.code);
  const wait = error.retryAfterSec;
  agent.sendError(call.protocol, error, wait === undefined ? {} : { "retry-after": String(wait) });
  record.status = agent.status;
}

/** Refuses this request and every one after it. */
export function stopAndRefuse(
  { state }: ProxyContext,
  refused: RefusedCall,
  { reason, message }: { readonly reason: StopReason; readonly message: string },
): void {
  state.stop(reason, message);
  refuseStopped(refused, state.stopped?.reason ?? reason);
}

/** Refuses a request of a stopped trial with a finished turn, which no agent tries again. */
export function refuseStopped(
  { record, agent, call, query }: RefusedCall,
  reason: StopReason,
): void {
  record.refuse(reason);
  const { contentType, body } = endTurnReply({
    protocol: call.protocol,
    model: call.modelAsked,
    stream: call.facts.stream,
    asEvents: query.get("alt") === "sse",
    text: `[benchflow: this run is stopped (${reason}); no further model calls are served]`,
  });
  agent.send(200, { "content-type": contentType }, body);
  record.status = agent.status;
  record.responseBody = body;
}
