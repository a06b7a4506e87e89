import * as z from "zod";
import { Amount, Balance, Caps } from "./ledger-amount.ts";

/** Why nothing new may be spent from a pot. */
export const Stop = z.object({
  kind: z.enum(["anomaly", "breaker", "cancelled"]),
  /** One line for people. */
  reason: z.string(),
});
export type Stop = z.infer<typeof Stop>;

/** A figure above its reservation: the prices or the counting are wrong, so the run stops. */
export const Anomaly = z.object({
  attempt: z.string(),
  reserved: Amount,
  actual: Amount,
  detail: z.string(),
});
export type Anomaly = z.infer<typeof Anomaly>;

/** Trials in a row that a provider refused for good: a key, an account, a model (attack 9). */
export const Breaker = z.object({
  /** Grows with each change. */
  version: z.int().min(0),
  /** Trials that make it open; 0 never does. */
  threshold: z.int().min(0),
  /** The distinct trials of the present row. */
  refused: z.array(z.string()),
});
export type Breaker = z.infer<typeof Breaker>;

/** The run's record: its caps and what stopped it. The money itself lies in the shards. */
export const PotHead = z.object({
  kind: z.literal("pot"),
  schema_version: z.literal(1),
  caps: Caps,
  /** Trials that the run may have at a time. */
  width: z.int().min(1),
  /** Grows with each change of the caps or the width. */
  version: z.int().min(0),
  shards: z.int().min(1),
  /** Grows each time that a stop is cleared, so that a late stop of before stops nothing. */
  epoch: z.int().min(0),
  breaker: Breaker,
  /** By attempt and sequence number. */
  anomalies: z.record(z.string(), Anomaly),
  stop: Stop.optional(),
});
export type PotHead = z.infer<typeof PotHead>;

/**
 * One open attempt's money. `earmarked` is set aside for it and cannot be spent yet; `leased` may be
 * spent without asking; `settled` is spent for certain. Only the holder of `claim` changes it.
 */
export const Lease = z.object({
  /** Who admitted it: the same admission repeated finds itself. */
  by: z.string(),
  /** The runner's token, written by its first act; the duplicate of a runner has another one. */
  claim: z.string().optional(),
  /** The process or task whose death has to be proven before anyone else may return the money. */
  holder: z.string().optional(),
  /** Place in the plan: waiting trials are served in this order. */
  order: z.int().min(0),
  /** Short name of the settings whose earlier trials tell what this one may need. */
  setting: z.string(),
  /** Number of the last change, and what it was. */
  seq: z.int().min(0),
  did: z.enum(["admit", "draw", "give", "wait", "turn", "gather", "leave", "charge"]),
  earmarked: Amount,
  leased: Amount,
  settled: Amount,
  /** What the trial waits for; absent when it does not wait. */
  wants: Amount.optional(),
  /** Set by another runner when nothing moves any more: the trial has to end. */
  ending: z.string().optional(),
});
export type Lease = z.infer<typeof Lease>;

/** What nobody could count, in attempts: they are charged all that they might have spent. */
export const Unknowns = z.object({ usd: z.int().min(0), tokens: z.int().min(0) });
export type Unknowns = z.infer<typeof Unknowns>;

/**
 * A share of the pot with the leases drawn from it. In each unit `remaining`, what the leases hold
 * (earmarked, leased and settled) and `settled` add up to the shard's share, and the shares to the cap.
 */
export const PotShard = z.object({
  kind: z.literal("shard"),
  epoch: z.int().min(0),
  remaining: Balance,
  /** Spent by attempts that have ended. */
  settled: Amount,
  /** Attempts that have ended. */
  ended: z.int().min(0),
  /** Leases in `leases`. */
  open: z.int().min(0),
  /** Leases that wait for money. */
  waiting: z.int().min(0),
  unknown: Unknowns,
  leases: z.record(z.string(), Lease),
  /** Trials that ran to their end, by setting. */
  samples: z.record(z.string(), z.int()),
  /** How many of them needed how much: `<setting>|<unit>|<upper bound>` to a count. */
  peaks: z.record(z.string(), z.int()),
  stop: Stop.optional(),
});
export type PotShard = z.infer<typeof PotShard>;

/** An attempt for good: it stays when the lease is gone, so that nothing is admitted or charged twice. */
export const AttemptRecord = z.object({
  kind: z.literal("attempt"),
  state: z.enum(["open", "ended"]),
  shard: z.int().min(0),
  by: z.string(),
  /** How it ended: by its own runner, after its proven death, or before any runner claimed it. */
  end: z.enum(["closed", "reaped", "unclaimed"]).optional(),
  /** The token of the runner that closed it. */
  closedBy: z.string().optional(),
  spent: Amount.optional(),
  unknown: z.object({ usd: z.boolean(), tokens: z.boolean() }).optional(),
});
export type AttemptRecord = z.infer<typeof AttemptRecord>;

/** A pot as it was read: the head and all its shards. */
export const PotView = z.object({ head: PotHead, shards: z.array(PotShard) });
export type PotView = z.infer<typeof PotView>;
