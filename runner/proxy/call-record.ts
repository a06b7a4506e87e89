import type {
  CallEnd,
  CallPurpose,
  Exchange,
  ModelProtocol,
  ReplyFailure,
  RequestRow,
} from "../../core/model/exchange.ts";
import type { TokenBuckets } from "../../core/model/usage-buckets.ts";
import type { UsageReading } from "../../core/model/usage-reading.ts";
import { replyFailure } from "../../core/usage/reply-failure.ts";
import type { Redactor } from "./redact/redactor.ts";
import { recordBody } from "./record-body.ts";
import type { RecordLimits } from "./record-body.ts";
import type { PreparedCall } from "./prepare-call.ts";

/** What a call was charged, as its row tells it. */
export type CallCost = Pick<RequestRow, "cost_micro_usd" | "cost_status" | "price_source"> & {
  /** Tokens that were guessed where none were told. */
  readonly estimate: TokenBuckets | null;
};

export const NO_COST: CallCost = {
  cost_micro_usd: null,
  cost_status: "none",
  price_source: null,
  estimate: null,
};

/** Everything known of one request of the agent, filled in as it goes; at its end, two lines of files. */
export class CallRecord {
  readonly index: number;
  readonly startedAt: Date;
  readonly startMs: number;
  readonly method: string;
  readonly path: string;
  readonly requestHeaders: Record<string, string> = {};
  readonly responseHeaders: Record<string, string> = {};
  protocol: ModelProtocol | null = null;
  modelAsked: string | null = null;
  purpose: CallPurpose | null = null;
  prepared: PreparedCall | null = null;
  tryNumber = 1;
  requestBytes = 0;
  responseBytes = 0;
  end: CallEnd = "answered";
  refusal: string | null = null;
  status: number | null = null;
  upstreamStatus: number | null = null;
  upstreamTries = 0;
  /** A request is with the provider, or was, and may be billed. */
  isOpen = false;
  ttfbMs: number | null = null;
  heldMs = 0;
  reading: UsageReading | null = null;
  /** What was seen of the model's output. */
  outputChars = 0;
  responseBody: unknown = null;
  responseDroppedChars = 0;
  anomaly: string | null = null;
  cost: CallCost = NO_COST;

  constructor(at: {
    readonly index: number;
    readonly now: Date;
    readonly startMs: number;
    readonly method: string;
    readonly path: string;
  }) {
    this.index = at.index;
    this.startedAt = at.now;
    this.startMs = at.startMs;
    this.method = at.method;
    this.path = at.path;
  }

  refuse(refusal: string): void {
    this.end = "refused";
    this.refusal = refusal;
  }

  /** Why a whole reply with a status of success is no answer; null for every other end. */
  get replyFailure(): ReplyFailure | null {
    const isGood = this.upstreamStatus !== null && this.upstreamStatus < 300;
    return this.end === "answered" && isGood ? replyFailure(this.reading, this.outputChars) : null;
  }

  /** What a provider says of itself may be the key that it was sent. */
  row(endMs: number, redactor: Pick<Redactor, "knownIn">): RequestRow {
    const { prepared, reading } = this;
    return {
      index: this.index,
      at_utc: this.startedAt.toISOString(),
      protocol: this.protocol,
      path: this.path,
      purpose: this.purpose,
      model_asked: this.modelAsked,
      model_sent: prepared?.modelSent ?? null,
      model_served: clean(reading?.model, redactor),
      end: this.end,
      status: this.status,
      upstream_status: this.upstreamStatus,
      upstream_tries: this.upstreamTries,
      try: this.tryNumber,
      refusal: this.refusal,
      ttfb_ms: roundedMs(this.ttfbMs),
      duration_ms: roundedMs(endMs - this.startMs),
      held_ms: roundedMs(this.heldMs),
      request_bytes: this.requestBytes,
      response_bytes: this.responseBytes,
      tools: prepared?.facts.tools ?? 0,
      stream: prepared?.facts.stream ?? false,
      sampling: prepared?.facts.sampling ?? null,
      stop_reason: clean(reading?.stopReason, redactor),
      reply_failure: this.replyFailure,
      usage_status: reading?.status ?? "none",
      tokens: reading?.status === "complete" ? reading.tokens : null,
      reasoning_tokens: reading?.reasoning ?? null,
      estimate: this.cost.estimate,
      anomaly: this.anomaly,
      cost_micro_usd: this.cost.cost_micro_usd,
      cost_status: this.cost.cost_status,
      price_source: this.cost.price_source,
      unpriced: [...(reading?.extras ?? [])],
      translation:
        prepared === null || prepared.translation === null
          ? null
          : { to: prepared.sentProtocol, left_out: [...prepared.translation.leftOut] },
    };
  }

  /** Spec 10.6. Timestamps are local, as the contract has them; the row has the UTC one. */
  exchange(
    endMs: number,
    { redactor, limits }: { readonly redactor: Redactor; readonly limits: RecordLimits },
  ): Exchange {
    const facts = this.prepared?.facts;
    const request = recordBody(
      { value: this.prepared?.body ?? null, sizeChars: this.prepared?.bytes.length ?? 0 },
      redactor,
      limits,
    );
    const isTranslated = (this.prepared?.translation ?? null) !== null;
    const asked = recordBody(
      { value: isTranslated ? this.prepared?.agentBody : null, sizeChars: this.requestBytes },
      redactor,
      limits,
    );
    // A stream's events are longer than the body that they add up to.
    const response = recordBody(
      { value: this.responseBody, sizeChars: this.responseBytes },
      redactor,
      limits,
    );
    const endedAt = new Date(this.startedAt.getTime() + (endMs - this.startMs));
    return {
      request: {
        timestamp: localStamp(this.startedAt),
        method: this.method,
        path: redactor.text(this.path),
        headers: this.requestHeaders,
        body: request.body,
        ...(isTranslated ? { agent_body: asked.body } : {}),
      },
      response: {
        timestamp: localStamp(endedAt),
        status_code: this.status ?? this.upstreamStatus,
        headers: this.responseHeaders,
        body: response.body,
      },
      duration_ms: roundedMs(endMs - this.startMs),
      metadata: {
        request_model: this.modelAsked,
        provider_model: clean(this.reading?.model ?? this.prepared?.modelSent, redactor),
        model_group: this.prepared?.modelAsked ?? null,
        call_type: this.protocol ?? "unknown",
        input_shape: {
          has_messages: facts?.hasMessages ?? false,
          has_input: facts?.hasInput ?? false,
          n_messages: facts?.messages ?? 0,
        },
        call_purpose: this.purpose ?? "unknown",
        index: this.index,
        sampling: facts?.sampling ?? null,
        request_dropped_bytes: request.droppedBytes + asked.droppedBytes,
        response_dropped_bytes: response.droppedBytes + this.responseDroppedChars,
        end: this.end,
      },
    };
  }
}

function clean(
  said: string | null | undefined,
  redactor: Pick<Redactor, "knownIn">,
): string | null {
  return said == null ? null : redactor.knownIn(said);
}

function roundedMs(ms: number): number;
function roundedMs(ms: number | null): number | null;
function roundedMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}

function localStamp(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
