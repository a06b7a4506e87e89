import type { Exchange, RequestRow } from "../../core/model/exchange.ts";
import type { ModelStop } from "../../core/outcome/judge-models.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { ModelUpstream } from "../../core/ports/model-upstream.ts";
import type { PriceTable } from "../../core/ports/price-table.ts";
import type { SpendGate } from "../../core/ports/spend-gate.ts";
import type { ModelLimits } from "../../core/usage/bound-request.ts";

/** Where the agent reaches the proxy. A unix socket's folder is the caller's to protect. */
export type ListenAt =
  | { readonly kind: "tcp"; readonly host?: string; readonly port?: number }
  | { readonly kind: "unix"; readonly path: string };

/** Which names an agent may send, and what they become. */
export interface ModelRules {
  /** The name that the agent was given. */
  readonly clientModel: string;
  /** The name that the provider knows it by. */
  readonly upstreamModel: string;
  /** Other names that are served by the same model: those that agents choose for side requests. */
  readonly aliases: readonly string[];
}

export interface ProxyLimits {
  /** From a request sent to the first byte of its answer; and how long one may wait for the pot. */
  readonly firstByteMs: number;
  /** Between two pieces of an answer. */
  readonly idleMs: number;
  /** A whole answer. */
  readonly totalMs: number;
  /** Some agents wait for less than we do: one that gives up after this silence has met a failure. */
  readonly giveUpMs: number;
  /** How long a request may be held between our own retries. */
  readonly maxHoldMs: number;
  /** Silence after which a held stream is told that it is still being worked on. */
  readonly heartbeatMs: number;
  /** How long `close` waits for the last settlements. */
  readonly settleMs: number;
  /** Requests sent upstream for one of the agent's, on 429, 5xx and connections that failed. */
  readonly upstreamTries: number;
  /** The wait before the first of our own retries, where the provider names none; doubled each time. */
  readonly retryMs: number;
  /** Told to the agent with a 429, 503 or 529 that names no time: codex gives up without one. */
  readonly retryAfterSec: number;
  /** Main requests that may fail one after the other before the trial's requests are all refused. */
  readonly failuresInRow: number;
  readonly maxBodyBytes: number;
  /** Of all requests being read at once. */
  readonly maxPendingBytes: number;
  readonly maxConcurrent: number;
  readonly maxHeaderBytes: number;
  /** Largest event of a stream, and largest whole answer, that is read for its usage. */
  readonly maxEventBytes: number;
  /** Largest body kept in the trajectory, and longest string within one. */
  readonly maxRecordChars: number;
  readonly maxRecordStringChars: number;
}

export const DEFAULT_LIMITS: ProxyLimits = {
  firstByteMs: 120_000,
  idleMs: 120_000,
  totalMs: 3_600_000,
  giveUpMs: 30_000,
  maxHoldMs: 45_000,
  heartbeatMs: 10_000,
  settleMs: 30_000,
  upstreamTries: 3,
  retryMs: 1_000,
  retryAfterSec: 5,
  failuresInRow: 12,
  maxBodyBytes: 64 * 1024 * 1024,
  maxPendingBytes: 256 * 1024 * 1024,
  maxConcurrent: 64,
  maxHeaderBytes: 32 * 1024,
  maxEventBytes: 16 * 1024 * 1024,
  maxRecordChars: 4 * 1024 * 1024,
  maxRecordStringChars: 256 * 1024,
};

/** Why a proxy refuses every further request. */
export type StopReason = ModelStop["reason"];

/** What happens in a proxy that its trial must know at once; all else is in the record. */
export type ProxyEvent =
  /** 401, 402 or 403: the breaker is the caller's. */
  | { readonly type: "provider-refused"; readonly status: number; readonly index: number }
  | { readonly type: "stopped"; readonly reason: StopReason; readonly message: string }
  /** The provider's figures are impossible, or above what was reserved. */
  | { readonly type: "anomaly"; readonly index: number; readonly message: string }
  | { readonly type: "record-failed"; readonly message: string };

/** Takes what is recorded of each request. Must not throw; a file's failure is told by `onEvent`. */
export interface ExchangeSink {
  write(row: RequestRow, exchange: Exchange): void;
}

export interface ProxyOptions {
  readonly listen: ListenAt;
  /** One for each protocol that the trial's agent may speak. */
  readonly upstreams: readonly ModelUpstream[];
  readonly models: ModelRules;
  readonly modelLimits: ModelLimits;
  /** `--max-output-tokens`: sent with every request, in place of a larger limit or of none. */
  readonly maxOutputTokens: number | null;
  readonly prices: PriceTable;
  readonly gate: SpendGate;
  readonly sink: ExchangeSink;
  readonly clock: Clock;
  /** Values that must not reach a file or the agent: the provider's keys. */
  readonly secrets: readonly string[];
  /** The same, of a list that grows while the proxy serves. */
  readonly laterSecrets?: readonly string[];
  readonly limits?: Partial<ProxyLimits>;
  readonly onEvent?: (event: ProxyEvent) => void;
}
