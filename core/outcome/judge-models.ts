import type { Diagnostics } from "../model/diagnostics.ts";
import type { RequestRow } from "../model/exchange.ts";
import type { AgentError } from "../model/outcome.ts";
import type { ModelEnd } from "../ports/model-access.ts";
import type { SpendEnd } from "../ports/spend-gate.ts";
import { type CallOutcome, isFailedReply, isProviderFailure } from "./provider-failure.ts";

/** Why a trial's models were taken away before its agent had ended; null when they were not. */
export interface ModelStop {
  readonly reason:
    | SpendEnd
    | "trial-limit"
    | "ledger"
    | "proxy-failed"
    | "provider-failing"
    | "cancelled"
    | "trial-ended";
  readonly message: string;
}

const INFRA_WORDS = {
  ledger: "the ledger could not be kept",
  "proxy-failed": "the model proxy failed",
} as const;

type ApiErrorInfo = NonNullable<Diagnostics["api_error_info"]>;

/** Refusals of single calls that the pot cannot bound or price: the agent can do nothing about them. */
const UNPAYABLE = new Set(["unbounded", "unpriced"]);

/**
 * Decides whether the models were at fault for how a trial ended (attack 7, 8), from the rows of its
 * requests in the order in which they ended. Only requests of the main work void and redeem: the agent
 * must have ended on a failure of the provider or the network, without a later success. What the agent
 * caused itself (400, 404, 413, a prompt longer than the model's context) is its limit, unless no request
 * ever succeeded: then nothing of the agent was measured. A reply of status 200 that holds an error or nothing is a failure like any other.
 */
export function judgeModels(rows: readonly RequestRow[], stop: ModelStop | null): ModelEnd {
  if (stop !== null) {
    const { reason, message } = stop;
    if (reason === "budget" || reason === "anomaly") return { kind: reason, message };
    if (reason === "trial-limit") return { kind: "trial-limit", message };
    if (reason === "ledger" || reason === "proxy-failed")
      return failed({ category: "infra_failure", message: `${INFRA_WORDS[reason]}: ${message}` });
  }
  const main = rows.filter(({ purpose }) => purpose === "main");
  let last: RequestRow | null = null;
  for (const row of main) {
    if (isSuccess(row)) last = null;
    else if (isFailedRow(row) || isUnpayable(row)) last = row;
  }
  if (last !== null && isUnpayable(last)) return { kind: "budget", message: unpayable(last) };
  if (last !== null) return failed(...apiError(main, last));
  if (stop?.reason === "breaker") return { kind: "breaker", message: stop.message };
  const rejected = main.findLast((row) => isSuccess(row) || isRejected(row));
  if (rejected === undefined || isSuccess(rejected)) return { kind: "sound" };
  if (!main.some(isSuccess)) return failed(...apiError(main, rejected));
  return { kind: "rejected", error: ownMistake(rejected) };
}

/** The tag of a graded trial whose agent got no further. */
function ownMistake({ upstream_status: status }: RequestRow): AgentError {
  const message = `provider rejected request (HTTP ${String(status)}): the agent ended on a request of its own making`;
  return { category: "provider_rejected", message };
}

/** A recorded request that the provider, or the network on the way to it, failed. */
export function isFailedRow(row: RequestRow): boolean {
  return isProviderFailure(outcomeOf(row));
}

function outcomeOf({ end, upstream_status, reply_failure }: RequestRow): CallOutcome {
  return { end, upstreamStatus: upstream_status, replyFailure: reply_failure };
}

function isSuccess({ end, upstream_status: status, reply_failure: failure }: RequestRow): boolean {
  const isWhole = end === "answered" || end === "capped";
  return isWhole && status !== null && status < 300 && failure === null;
}

function isRejected({ end, upstream_status: status, reply_failure: failure }: RequestRow): boolean {
  return end === "answered" && ((status !== null && status >= 400) || failure === "rejected");
}

function isUnpayable({ end, refusal }: RequestRow): boolean {
  return end === "refused" && UNPAYABLE.has(refusal ?? "");
}

function unpayable({ refusal }: RequestRow): string {
  return refusal === "unpriced"
    ? "the model's price is unknown, so no call could be paid under the cap"
    : "its requests name no limit for their answers: --max-output-tokens N gives them one";
}

function failed(error: AgentError, info: ApiErrorInfo | null = null): ModelEnd {
  return { kind: "failed", error, info };
}

/**
 * Spec 2.3: the status decides, and no text of a body. A reply of status 200 that is no answer counts as
 * one that never came.
 */
function apiError(main: readonly RequestRow[], last: RequestRow): [AgentError, ApiErrorInfo] {
  const isStatus = last.end === "answered" && !isFailedReply(outcomeOf(last));
  const status = isStatus ? last.upstream_status : null;
  const bad = main.filter((row) => isFailedRow(row) || isRejected(row));
  const { subcategory, transient } = kindOf(status);
  const answer = last.reply_failure === null ? undefined : REPLY_WORDS[last.reply_failure];
  const what = answer ?? (status === null ? WORDS[last.end] : `HTTP ${String(status)}`);
  const tag = transient ? `${subcategory}/transient` : subcategory;
  const message =
    `provider API error [${tag}]: ${String(bad.length)} of ${String(main.length)} requests failed, ` +
    `the last with ${what ?? "no answer"}`;
  const error: AgentError = { category: categoryOf(status), message };
  const statuses: Record<string, number> = {};
  for (const row of bad) {
    const key = String(row.upstream_status ?? row.end);
    statuses[key] = (statuses[key] ?? 0) + 1;
  }
  return [
    transient ? { ...error, transient } : error,
    {
      subcategory,
      transient,
      dominant_status: status,
      status_counts: statuses,
      total_requests: main.length,
      failed_requests: bad.length,
      fingerprint: `${subcategory}:${String(status ?? last.end)}`,
    },
  ];
}

const WORDS: Partial<Record<RequestRow["end"], string>> = {
  cut: "an answer that broke off",
  timeout: "no answer in time",
  unreachable: "no connection",
};

const REPLY_WORDS: Record<NonNullable<RequestRow["reply_failure"]>, string> = {
  error: "an error in an answer of HTTP 200",
  rejected: "a refusal in an answer of HTTP 200",
  empty: "an answer of HTTP 200 that held none",
};

function kindOf(status: number | null): {
  readonly subcategory: string;
  readonly transient: boolean;
} {
  if (status === 401 || status === 403) return { subcategory: "auth", transient: false };
  if (status === 402) return { subcategory: "quota", transient: false };
  if (status === 404) return { subcategory: "model_not_found", transient: false };
  if (status === 429) return { subcategory: "rate_limit", transient: true };
  if (status === null || status === 408 || status >= 500)
    return { subcategory: "provider_error", transient: true };
  return { subcategory: "rejected_request", transient: false };
}

function categoryOf(status: number | null): AgentError["category"] {
  if (status === 401 || status === 403) return "provider_auth";
  return status === 429 ? "provider_rate_limit" : "api_error";
}
