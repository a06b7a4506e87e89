import type { CallEnd, ReplyFailure } from "../model/exchange.ts";

/** How a request for a model's answer came out, as its row and its running record both know it. */
export interface CallOutcome {
  readonly end: CallEnd;
  /** Of the provider's last answer; null without one. */
  readonly upstreamStatus: number | null;
  readonly replyFailure: ReplyFailure | null;
}

/** What a provider says of itself, its key or its load; 400, 404 and 413 are of the agent's making. */
const PROVIDER_STATUSES = new Set([401, 402, 403, 408, 429]);

/**
 * Whether the provider, or the network on the way to it, failed a request (attack 7, 8): it broke off,
 * came late or never arrived, or its answer is a failure, one with a status of success included. The
 * same rule stops a trial after many such requests in a row, voids its score, and counts them.
 */
export function isProviderFailure(call: CallOutcome): boolean {
  const { end, upstreamStatus: status } = call;
  if (end === "cut" || end === "timeout" || end === "unreachable") return true;
  if (isFailedReply(call)) return true;
  if (end !== "answered" || status === null) return false;
  return status >= 500 || PROVIDER_STATUSES.has(status);
}

/** A status of success over what is none (an error within a 200, a page of a gateway's). */
export function isFailedReply({ replyFailure }: Pick<CallOutcome, "replyFailure">): boolean {
  return replyFailure === "error" || replyFailure === "empty";
}
