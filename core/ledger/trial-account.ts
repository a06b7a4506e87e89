import type { Amount, LedgerUnit } from "../model/ledger-amount.ts";
import type { Stop } from "../model/ledger-pot.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { SpendEnd } from "../ports/spend-gate.ts";
import { LeaseClient } from "./lease-client.ts";
import type { AccountEnding, LeaseOwner } from "./lease-client.ts";
import { queueWork } from "./queue-work.ts";

/** Why a trial may spend nothing more. `unit`: what the pot cannot cover, null where it is not that. */
export interface AccountEnd {
  readonly why: string;
  readonly by: SpendEnd;
  readonly unit: LedgerUnit | null;
}

/** The answer to a call that wants to be made. `heldMs`: the agent's clocks stand still for it. */
export type Reservation =
  | { readonly kind: "granted"; readonly call: string; readonly heldMs: number }
  /** Nothing more for this trial from the command's pot: it ends unscored, fault budget. */
  | ({ readonly kind: "refused"; readonly heldMs: number } & AccountEnd)
  /** The trial's own cap: it is graded as it is, with its limit. */
  | { readonly kind: "trial-limit"; readonly unit: LedgerUnit; readonly heldMs: number };

export interface HoldLimits {
  /** Aborted when nobody wants the call any more; `reserve` then throws its reason. */
  readonly signal: AbortSignal;
  /** How long the call may be held for money before it is refused. */
  readonly patienceMs: number;
}

/**
 * One trial's side of the ledger, in the runner: any number of calls at a time, one ledger step after
 * the other. Once the ledger fails, every reservation fails, whatever is still leased.
 */
export interface TrialAccount {
  /** Asks before a call: `worst` is all that it can cost. Calls are answered in the order they ask. */
  reserve(worst: Amount, limits: HoldLimits): Promise<Reservation>;
  /**
   * Tells what a call really cost, once; a call that is never told of stays charged in full. A figure
   * above the reservation is charged and stops the run.
   */
  settle(call: string, actual: Amount): Promise<void>;
  /** Whether the trial may go on: null, or why it has to end. To be asked every few seconds. */
  check(): Promise<AccountEnd | null>;
  /** Returns what no open call needs: the agent has ended, the verifier may still run for long. */
  giveBack(): Promise<void>;
  /** Ends the attempt, after its calls and its sandbox have ended. Resolves to what it is charged. */
  close(ending: AccountEnding): Promise<Amount>;
  /** What has been spent so far, open calls not counted. */
  readonly spent: Amount;
}

/** The account of an attempt that was admitted and claimed. */
export function openTrialAccount(
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  owner: LeaseOwner,
): TrialAccount {
  return new LeasedAccount(new LeaseClient(ledger, owner), clock);
}

const SETTLE_POLL_MS = 100;
const TURN_POLL_MS = 250;
const LONGEST_POLL_MS = 15_000;

interface Hold extends HoldLimits {
  readonly worst: Amount;
  readonly sinceMs: number;
}

class LeasedAccount implements TrialAccount {
  readonly #client: LeaseClient;
  readonly #clock: Clock;
  readonly #inTurn = queueWork();
  #lastCall = 0;
  #end: AccountEnd | null = null;

  constructor(client: LeaseClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  get spent(): Amount {
    return this.#client.spent;
  }

  async reserve(worst: Amount, limits: HoldLimits): Promise<Reservation> {
    const sinceMs = this.#clock.monotonicMs();
    return await this.#inTurn(async () => await this.#hold({ ...limits, worst, sinceMs }));
  }

  async #hold(hold: Hold): Promise<Reservation> {
    this.#lastCall += 1;
    const call = String(this.#lastCall);
    for (;;) {
      hold.signal.throwIfAborted();
      const heldMs = this.#clock.monotonicMs() - hold.sinceMs;
      if (this.#end !== null) return { kind: "refused", ...this.#end, heldMs };
      const decision = this.#client.openCall(call, hold.worst);
      if (decision.kind === "open") return { kind: "granted", call, heldMs };
      const isLate = heldMs >= hold.patienceMs;
      if (decision.kind === "limit") {
        const { unit, full } = decision;
        if (full || isLate) return { kind: "trial-limit", unit, heldMs };
        await this.#clock.sleep(SETTLE_POLL_MS, hold.signal);
      } else if (isLate) {
        this.#end = endBy("budget", `no money came free in ${Math.round(heldMs / 1000)} s`);
      } else {
        await this.#draw(call, hold);
      }
    }
  }

  async #draw(call: string, hold: Hold): Promise<void> {
    const reply = await this.#client.draw(call, hold.worst);
    if (reply.kind !== "short") return this.#endFor(reply);
    this.#endFor(await this.#client.wait(hold.worst));
    if (this.#client.waits) await this.#awaitTurn(hold);
  }

  async #awaitTurn({ worst, signal, sinceMs, patienceMs }: Hold): Promise<void> {
    /** The pot as it was last seen, and since when nothing has moved in it. */
    const seen = { progress: "", sinceMs: this.#clock.monotonicMs() };
    while (!signal.aborted && this.#clock.monotonicMs() - sinceMs < patienceMs) {
      const ms = this.#clock.monotonicMs() - seen.sinceMs;
      const reply = await this.#client.turn(worst, { progress: seen.progress, ms });
      if (reply.kind === "gathered") continue;
      if (reply.kind !== "waiting") {
        this.#endFor(reply);
        break;
      }
      if (seen.progress !== reply.progress)
        Object.assign(seen, { progress: reply.progress, sinceMs: this.#clock.monotonicMs() });
      const pollMs = Math.min(LONGEST_POLL_MS, TURN_POLL_MS * (reply.position + 1));
      // An abort only ends the sleep: the queue has to be left first.
      await this.#clock.sleep(pollMs, signal).catch(() => undefined);
    }
    // Whoever stops waiting makes room at once, not when its sandbox has gone.
    if (this.#client.waits) this.#endFor(await this.#client.leave());
  }

  async settle(call: string, actual: Amount): Promise<void> {
    const anomaly = await this.#client.settle(call, actual);
    if (anomaly !== null) this.#end ??= endBy("anomaly", anomaly.detail);
  }

  async check(): Promise<AccountEnd | null> {
    this.#endFor(await this.#client.check());
    return this.#end;
  }

  async giveBack(): Promise<void> {
    this.#endFor(await this.#client.giveBack());
  }

  async close(ending: AccountEnding): Promise<Amount> {
    this.#end ??= endBy("budget", "the attempt has ended");
    return await this.#client.close(ending);
  }

  #endFor(reply: AnyReply): void {
    this.#end ??= endOf(reply);
  }
}

type AnyReply =
  | { readonly kind: "granted" | "go-on" | "left" | "gone" | "taken" }
  | { readonly kind: "refused"; readonly unit: LedgerUnit | null }
  | { readonly kind: "stopped"; readonly stop: Stop }
  | { readonly kind: "end"; readonly why: string };

function endOf(reply: AnyReply): AccountEnd | null {
  switch (reply.kind) {
    case "granted":
    case "go-on":
    case "left":
      return null;
    case "refused":
      return reply.unit === null
        ? endBy("budget", "nothing moved in the pot for 60 s, and this trial is the youngest")
        : {
            ...endBy("budget", `the pot cannot cover the next call (${reply.unit})`),
            unit: reply.unit,
          };
    case "stopped":
      return endBy(STOPPED_BY[reply.stop.kind], reply.stop.reason);
    case "end":
      return endBy("budget", reply.why);
    case "gone":
      return endBy("budget", "the attempt has been ended by another process");
    case "taken":
      return endBy("budget", "another runner has the attempt");
  }
}

const STOPPED_BY: Record<Stop["kind"], SpendEnd> = {
  anomaly: "anomaly",
  breaker: "breaker",
  cancelled: "budget",
};

const endBy = (by: SpendEnd, why: string): AccountEnd => ({ why, by, unit: null });
