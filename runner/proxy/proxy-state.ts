import { messageOf } from "../../core/errors.ts";
import type { CallPurpose } from "../../core/model/exchange.ts";
import { isProviderFailure } from "../../core/outcome/provider-failure.ts";
import { NO_TOKENS, addTokens } from "../../core/model/usage-buckets.ts";
import type { TokenBuckets } from "../../core/model/usage-buckets.ts";
import type { CallGuard } from "./call-guard.ts";
import type { CallRecord } from "./call-record.ts";
import { HeldTime } from "./held-time.ts";
import type { ProxyEvent, ProxyLimits, StopReason } from "./proxy-options.ts";
import { PendingBytes } from "./read-body.ts";

/** What a trial's requests came to so far. */
export interface ProxyTotals {
  /** Requests for a model's answer, refused ones included. */
  readonly requests: number;
  readonly refused: number;
  readonly inFlight: number;
  /** Tokens of complete readings. */
  readonly tokens: TokenBuckets;
  /** What is charged, reservations of unknown use included; null once any price was unknown. */
  readonly costMicroUsd: number | null;
  /** Calls whose figures never came or could not be believed, charged in full. */
  readonly incomplete: number;
  readonly anomalies: number;
  readonly heldMs: number;
}

const MAX_RECORDED_REFUSALS = 200;

/** What all requests of one proxy share. */
export class ProxyState {
  readonly pending: PendingBytes;
  readonly held: HeldTime;
  readonly live = new Set<CallGuard>();
  readonly #settlements = new Set<Promise<void>>();
  readonly #onEvent: (event: ProxyEvent) => void;
  readonly #failuresInRow: number;
  #stopped: { readonly reason: StopReason; readonly message: string } | null = null;
  #nextIndex = 0;
  readonly #failures = new Map<CallPurpose, number>();
  #totals = {
    requests: 0,
    refused: 0,
    tokens: NO_TOKENS,
    costMicroUsd: 0,
    unpriced: 0,
    incomplete: 0,
    anomalies: 0,
  };

  constructor(
    limits: ProxyLimits,
    world: { readonly monotonicMs: () => number; readonly onEvent: (event: ProxyEvent) => void },
  ) {
    this.pending = new PendingBytes(limits.maxPendingBytes);
    this.held = new HeldTime(world.monotonicMs);
    this.#onEvent = world.onEvent;
    this.#failuresInRow = limits.failuresInRow;
  }

  get stopped(): { readonly reason: StopReason; readonly message: string } | null {
    return this.#stopped;
  }

  get totals(): ProxyTotals {
    const { unpriced, costMicroUsd, ...counts } = this.#totals;
    return {
      ...counts,
      costMicroUsd: unpriced > 0 ? null : costMicroUsd,
      inFlight: this.live.size,
      heldMs: this.held.totalMs,
    };
  }

  nextIndex(): number {
    this.#nextIndex += 1;
    return this.#nextIndex - 1;
  }

  /** From now on every request is refused. The first reason stands. */
  stop(reason: StopReason, message: string): void {
    if (this.#stopped !== null) return;
    this.#stopped = { reason, message };
    this.#onEvent({ type: "stopped", reason, message });
  }

  /** Keeps a settlement until it is through; one that fails stops all further spending. */
  trackSettlement(settlement: Promise<void>): void {
    const tracked = this.#settled(settlement);
    this.#settlements.add(tracked);
    void this.#forget(tracked);
  }

  /** Resolves when all settlements of now are through. */
  async settled(): Promise<void> {
    await Promise.all(this.#settlements);
  }

  /** Whether one more refused request is still written down: an agent may send any number of them. */
  isWorthRecording(record: CallRecord): boolean {
    if (record.end !== "refused") return true;
    return this.#totals.refused <= MAX_RECORDED_REFUSALS;
  }

  tell(event: ProxyEvent): void {
    this.#onEvent(event);
  }

  tryNumber(purpose: CallPurpose): number {
    return (this.#failures.get(purpose) ?? 0) + 1;
  }

  /** Counts a request that has ended. */
  count(record: CallRecord): void {
    const totals = this.#totals;
    totals.requests += 1;
    if (record.end === "refused") totals.refused += 1;
    if (record.reading?.status === "complete")
      totals.tokens = addTokens(totals.tokens, record.reading.tokens);
    if (record.cost.cost_status === "reserved") totals.incomplete += 1;
    if (record.cost.cost_status === "unpriced") totals.unpriced += 1;
    totals.costMicroUsd += record.cost.cost_micro_usd ?? 0;
    if (record.anomaly !== null) totals.anomalies += 1;
    this.#countFailure(record);
  }

  async #settled(settlement: Promise<void>): Promise<void> {
    try {
      await settlement;
    } catch (thrown) {
      this.stop("ledger", messageOf(thrown));
    }
  }

  async #forget(tracked: Promise<void>): Promise<void> {
    await tracked;
    this.#settlements.delete(tracked);
  }

  /**
   * An agent may try again and again at a provider that is down; each try of a cut stream is billed.
   * Only what the provider or the network caused counts, and only in a row.
   */
  #countFailure(record: CallRecord): void {
    const { purpose, end, status } = record;
    if (purpose === null || end === "refused" || end === "aborted" || end === "stopped") return;
    if (!isProviderFailure(record)) {
      this.#failures.set(purpose, 0);
      return;
    }
    const inRow = this.tryNumber(purpose);
    this.#failures.set(purpose, inRow);
    if (purpose === "main" && inRow >= this.#failuresInRow)
      this.stop(
        "provider-failing",
        `${inRow} requests failed in a row, the last with ${status ?? end}`,
      );
  }
}
