import { BenchError } from "../errors.ts";
import type { Amount, Caps } from "../model/ledger-amount.ts";
import type { Anomaly } from "../model/ledger-pot.ts";
import type {
  CheckReply,
  DrawReply,
  GiveRequest,
  LeaseStep,
  OpenLease,
  StepReply,
  TurnReply,
  TurnRequest,
} from "../model/ledger-request.ts";
import type { Ledger } from "../ports/ledger.ts";
import { isNothing, plus } from "./amounts.ts";
import {
  deficitOf,
  moveLease,
  openCall,
  openPurse,
  reservedOf,
  settleCall,
  spareOf,
  unreportedOf,
} from "./purse.ts";
import type { CallDecision, LeaseMove, Purse } from "./purse.ts";
import { queueWork } from "./queue-work.ts";

export interface LeaseOwner {
  readonly open: OpenLease;
  /** The runner's own, as in its claim. */
  readonly token: string;
  readonly holder: string;
  /** `--max-cost-per-trial` and its like. */
  readonly trialCaps: Caps;
}

export interface AccountEnding {
  /** The trial ran to its own end, so that others can learn from it what one needs. */
  readonly complete: boolean;
  /** Tokens were spent that have no known price. */
  readonly unpriced: boolean;
}

/** `left`: it waits no more, since its own calls gave something back; ask anew. */
export type TurnAnswer = TurnReply | { readonly kind: "left" };

/**
 * A runner's purse and its lease in the ledger, kept alike: one step after the other, each with the
 * next number. After a failure nothing is opened any more, since an answer may have been lost.
 */
export class LeaseClient {
  readonly #ledger: Ledger;
  readonly #owner: LeaseOwner;
  readonly #stepwise = queueWork();
  #purse: Purse;
  #waits: boolean;
  #failure: { readonly error: unknown } | null = null;
  /** What was not charged yet. */
  #anomaly: Anomaly | null = null;

  constructor(ledger: Ledger, owner: LeaseOwner) {
    this.#ledger = ledger;
    this.#owner = owner;
    this.#purse = openPurse(owner.open, owner.trialCaps);
    this.#waits = owner.open.lease.wants !== undefined;
  }

  get spent(): Amount {
    return this.#purse.spent;
  }

  get waits(): boolean {
    return this.#waits;
  }

  /** Opens the call where the lease covers it. Throws what the ledger threw before. */
  openCall(call: string, worst: Amount): CallDecision {
    if (this.#failure !== null) throw this.#failure.error;
    const decision = openCall(this.#purse, call, worst);
    if (decision.kind === "open") this.#purse = decision.purse;
    return decision;
  }

  async draw(call: string, worst: Amount): Promise<DrawReply> {
    return await this.#step(async () => {
      // Calls that were settled meanwhile may have left enough.
      const decision = openCall(this.#purse, call, worst);
      if (decision.kind !== "draw") return { kind: "granted" };
      const { fromEarmark, fromPot } = decision;
      const contested = this.#purse.capped.some((unit) => fromPot[unit] > 0);
      const move = { settle: unreportedOf(this.#purse), fromEarmark, fromPot };
      const request = { ...this.#next(), ...move, contested, need: worst };
      return this.#moved(await this.#ledger.draw(request), { did: "draw", ...move });
    });
  }

  /** Joins those who wait, and returns all that is not in use (attack 12). */
  async wait(wants: Amount): Promise<StepReply> {
    return await this.#step(async () => {
      const move = this.#unused();
      const reply = await this.#ledger.wait({ ...this.#next(), ...move, wants });
      this.#waits = reply.kind === "granted";
      return this.#moved(reply, { did: "wait", ...move });
    });
  }

  /** Returns all that is not in use; later calls ask the pot. */
  async giveBack(): Promise<StepReply> {
    return await this.#step(async () => {
      const move = this.#unused();
      const reply = await this.#ledger.give({ ...this.#next(), ...move });
      return this.#moved(reply, { did: "give", ...move });
    });
  }

  async turn(worst: Amount, stalled: TurnRequest["stalled"]): Promise<TurnAnswer> {
    return await this.#step(async () => {
      // Its own calls gave something back: perhaps enough, and if not it must not lie idle here.
      if (!isNothing(spareOf(this.#purse))) {
        const left = await this.#leave();
        return left.kind === "granted" ? { kind: "left" } : left;
      }
      const request = { ...this.#next(), take: worst, need: worst, stalled };
      const reply = await this.#ledger.turn(request);
      if (reply.kind === "gathered") this.#purse = moveLease(this.#purse, { did: "gather" });
      if (reply.kind === "granted") this.#waits = false;
      return this.#moved(reply, { did: "turn", fromPot: worst });
    });
  }

  async leave(): Promise<StepReply> {
    return await this.#step(async () => await this.#leave());
  }

  /** The anomaly when the figure passed its reservation; it is charged then. */
  async settle(call: string, actual: Amount): Promise<Anomaly | null> {
    const { purse, anomaly } = settleCall(this.#purse, call, actual);
    this.#purse = purse;
    if (anomaly === null) return null;
    this.#anomaly = anomaly;
    await this.#step(async () => await this.#charge(anomaly));
    return anomaly;
  }

  async check(): Promise<CheckReply> {
    const { attempt, shard } = this.#purse;
    const { token } = this.#owner;
    const reply = await this.#guard(
      async () => await this.#ledger.check({ attempt, shard, token }),
    );
    if (reply.kind === "go-on") this.#purse = { ...this.#purse, sizing: reply.sizing };
    return reply;
  }

  /** See `TrialAccount.close`. */
  async close({ complete, unpriced }: AccountEnding): Promise<Amount> {
    return await this.#step(async () => {
      if (this.#failure !== null) await this.#readAgain();
      if (this.#anomaly !== null) await this.#charge(this.#anomaly);
      const { earmarked, leased, settled, setting } = this.#purse.lease;
      const reserved = reservedOf(this.#purse);
      const settle = plus(unreportedOf(this.#purse), reserved);
      const reply = await this.#ledger.close({
        ...this.#next(),
        earmarked,
        leased,
        settled,
        setting,
        settle,
        waits: this.#waits,
        peak: this.#purse.peak,
        complete,
        unknown: { usd: unpriced || reserved.microUsd > 0, tokens: reserved.tokens > 0 },
      });
      if (reply.kind === "taken") throw notOurs(this.#purse.attempt);
      // `gone`: ended by another after this runner's death was proven, and all it held was charged.
      return reply.kind === "granted" ? plus(settled, settle) : plus(settled, leased);
    });
  }

  async #leave(): Promise<StepReply> {
    const reply = await this.#ledger.leave(this.#next());
    if (reply.kind === "granted") this.#waits = false;
    return this.#moved(reply, { did: "leave" });
  }

  async #charge(anomaly: Anomaly): Promise<void> {
    const move = { settle: unreportedOf(this.#purse), fromPot: deficitOf(this.#purse) };
    const { settle, fromPot: deficit } = move;
    const reply = await this.#ledger.charge({ ...this.#next(), settle, deficit, anomaly });
    this.#moved(reply, { did: "charge", ...move });
    this.#anomaly = null;
  }

  /** After an answer that was lost: whether the last step happened is in the lease. */
  async #readAgain(): Promise<void> {
    const { attempt } = this.#purse;
    const { token, holder } = this.#owner;
    const reply = await this.#ledger.claim({ attempt, token, holder });
    if (reply.kind !== "claimed") return;
    const { lease } = reply.open;
    this.#purse = { ...this.#purse, lease };
    this.#waits = lease.wants !== undefined;
  }

  #unused(): Pick<GiveRequest, "settle" | "giveEarmark" | "giveLeased"> {
    const settle = unreportedOf(this.#purse);
    const giveEarmark = this.#purse.lease.earmarked;
    return { settle, giveEarmark, giveLeased: spareOf(this.#purse) };
  }

  #next(): LeaseStep {
    const { attempt, shard, lease } = this.#purse;
    return { attempt, shard, token: this.#owner.token, seq: lease.seq + 1 };
  }

  #moved<Reply extends { readonly kind: string }>(reply: Reply, move: LeaseMove): Reply {
    if (reply.kind === "granted") this.#purse = moveLease(this.#purse, move);
    return reply;
  }

  async #step<Result>(work: () => Promise<Result>): Promise<Result> {
    return await this.#stepwise(async () => await this.#guard(work));
  }

  async #guard<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}

function notOurs(attempt: string): BenchError {
  return new BenchError("bug", `attempt ${attempt} belongs to another runner`, {
    next: "report this with the command that was run",
  });
}
