import type { ReplyFailure } from "../model/exchange.ts";
import type { UsageReading } from "../model/usage-reading.ts";

/** What an empty list of answers takes as text. */
const EMPTY_ANSWER_CHARS = 2;

/** Errors that the request caused itself, by the type, the code or the state that stands first. */
const REQUEST_ERRORS =
  /^(?:invalid_request_error|invalid_prompt|context_length_exceeded|string_above_max_length|request_too_large|not_found_error|invalid_argument|400|404|413|422)(?::|$)/iu;

/** Stop reasons with which a gateway tells that its origin failed. */
const FAILED_STOPS = new Set(["error", "failed"]);

/**
 * Why a reply with a status of success holds no answer; null when it holds one. Gateways tell an outage
 * within a 200: an error object, a page of HTML, nothing. `outputChars` is what was seen of the answer,
 * so that a server that tells neither its usage nor why it stopped has answered all the same.
 */
export function replyFailure(
  reading: UsageReading | null,
  outputChars: number,
): ReplyFailure | null {
  const error = reading?.error ?? "";
  if (error !== "") return REQUEST_ERRORS.test(error) ? "rejected" : "error";
  if (reading === null) return "empty";
  const { status, stopReason } = reading;
  if (stopReason !== null && FAILED_STOPS.has(stopReason.toLowerCase())) return "error";
  const isAnswer = status === "complete" || stopReason !== null || outputChars > EMPTY_ANSWER_CHARS;
  return isAnswer ? null : "empty";
}
