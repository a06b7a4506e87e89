import * as z from "zod";
import { Amount, Balance, Caps, LedgerUnit } from "./ledger-amount.ts";
import { Anomaly, Lease, Stop } from "./ledger-pot.ts";

/** What a command asks for when it opens its pot. */
export const OpenRequest = z.object({
  caps: Caps,
  /** Trials that may run at once: decides into how many shards a new pot is split. */
  width: z.int().min(1),
  /** Distinct trials in a row that the provider refuses until the breaker opens; 0 for never. */
  breakerThreshold: z.int().min(0),
});
export type OpenRequest = z.infer<typeof OpenRequest>;

/** One attempt asks to start. */
export const AdmitRequest = z.object({
  /** Unique for ever: a retry or a resume is another attempt with another name. */
  attempt: z.string().min(1).max(300),
  /** Unique per admission; the same call repeated has the same. */
  by: z.string().min(1),
  order: z.int().min(0),
  setting: z.string().min(1).max(64),
  /** The least that it can work with: the worst case of its dearest call, and 1 rollout. */
  least: Amount,
  /** `--max-cost-per-trial` and its like; null where there is none. */
  trialCaps: Caps,
  /** The runner, where it admits itself; null where a runner that starts later claims the attempt. */
  claim: z.object({ token: z.string().min(1), holder: z.string().min(1) }).nullable(),
});
export type AdmitRequest = z.infer<typeof AdmitRequest>;

/** What a runner sizes its leases by. */
export const Sizing = z.object({
  /** Trials that the run may have at a time. */
  width: z.int().min(1),
  /** What remains in the pot, about. */
  remaining: Balance,
});
export type Sizing = z.infer<typeof Sizing>;

/** A lease as its runner starts with it. */
export const OpenLease = z.object({
  attempt: z.string(),
  shard: z.int().min(0),
  lease: Lease,
  /** Units that have a cap. */
  capped: z.array(LedgerUnit),
  sizing: Sizing,
});
export type OpenLease = z.infer<typeof OpenLease>;

const Refused = z.object({
  kind: z.literal("refused"),
  /** The unit that cannot be covered; null when nothing moved and the youngest trial had to end. */
  unit: LedgerUnit.nullable(),
});
const Stopped = z.object({ kind: z.literal("stopped"), stop: Stop });
/** `taken`: the attempt belongs to another runner. `gone`: it has ended, or never was. */
const NotYours = z.object({ kind: z.enum(["taken", "gone"]) });

export const Admission = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("admitted"), open: OpenLease }),
  /**
   * Not now: `short` of money that running trials hold, `learning` what a trial needs from the first
   * 20, or as many run as the cap bears (`width`).
   */
  z.object({ kind: z.literal("wait"), why: z.enum(["short", "learning", "width"]) }),
  Refused,
  Stopped,
  NotYours,
]);
export type Admission = z.infer<typeof Admission>;

export const ClaimRequest = z.object({
  attempt: z.string(),
  token: z.string().min(1),
  holder: z.string().min(1),
});
export type ClaimRequest = z.infer<typeof ClaimRequest>;

export const ClaimReply = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("claimed"), open: OpenLease }),
  Stopped,
  NotYours,
]);
export type ClaimReply = z.infer<typeof ClaimReply>;

/** A change of one lease: it happens when `seq` is one above the lease's, and never twice. */
export const LeaseStep = z.object({
  attempt: z.string(),
  shard: z.int().min(0),
  token: z.string(),
  seq: z.int().min(1),
});
export type LeaseStep = z.infer<typeof LeaseStep>;

/** Reports what was spent and leases more, in one step. */
export const DrawRequest = LeaseStep.extend({
  settle: Amount,
  fromEarmark: Amount,
  fromPot: Amount,
  /** `fromPot` has a unit with a cap: those who wait come first. */
  contested: z.boolean(),
  /** The worst case of the call that asks. */
  need: Amount,
});
export type DrawRequest = z.infer<typeof DrawRequest>;

/** Reports what was spent and returns what is not in use. */
export const GiveRequest = LeaseStep.extend({
  settle: Amount,
  giveEarmark: Amount,
  giveLeased: Amount,
});
export type GiveRequest = z.infer<typeof GiveRequest>;

/** Joins those who wait, and first returns all that is not in use (attack 12). */
export const WaitRequest = GiveRequest.extend({ wants: Amount });
export type WaitRequest = z.infer<typeof WaitRequest>;

/** Asks whether its turn has come. */
export const TurnRequest = LeaseStep.extend({
  /** What the call lacks. */
  take: Amount,
  need: Amount,
  /** How this runner last saw the pot (`progress`; empty at first), and for how long so. */
  stalled: z.object({ progress: z.string(), ms: z.number().min(0) }),
});
export type TurnRequest = z.infer<typeof TurnRequest>;

/** Charges a figure that passed its reservation, and stops the run. */
export const ChargeRequest = LeaseStep.extend({
  settle: Amount,
  /** What the lease lacks to cover it; taken from the pot whether it has it or not. */
  deficit: Amount,
  anomaly: Anomaly,
});
export type ChargeRequest = z.infer<typeof ChargeRequest>;

/** The runner's last step: its calls have ended and its sandbox is proven gone. */
export const CloseRequest = LeaseStep.extend({
  settle: Amount,
  /** The lease as the runner knows it. */
  earmarked: Amount,
  leased: Amount,
  settled: Amount,
  waits: z.boolean(),
  setting: z.string(),
  /** The most that was spent and reserved at one time. */
  peak: Amount,
  /** The trial ran to its own end, so that its peak tells what others may need. */
  complete: z.boolean(),
  unknown: z.object({ usd: z.boolean(), tokens: z.boolean() }),
});
export type CloseRequest = z.infer<typeof CloseRequest>;

const Granted = z.object({ kind: z.literal("granted") });
/** Not enough now, but what others hold may come back. */
const Short = z.object({ kind: z.literal("short") });
const Waiting = z.object({
  kind: z.literal("waiting"),
  /** Trials that are served before this one. */
  position: z.int().min(0),
  /** Changes whenever anything moves in the pot. */
  progress: z.string(),
});

export const DrawReply = z.discriminatedUnion("kind", [Granted, Short, Refused, Stopped, NotYours]);
export type DrawReply = z.infer<typeof DrawReply>;

export const TurnReply = z.discriminatedUnion("kind", [
  Granted,
  Waiting,
  /** Money was gathered for this trial, and not enough yet: the step is used up, ask again. */
  z.object({ kind: z.literal("gathered") }),
  Refused,
  Stopped,
  NotYours,
]);
export type TurnReply = z.infer<typeof TurnReply>;

export const StepReply = z.discriminatedUnion("kind", [Granted, NotYours]);
export type StepReply = z.infer<typeof StepReply>;

/** What a runner is told when it looks at its lease without changing it. */
export const CheckReply = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("go-on"), sizing: Sizing }),
  z.object({ kind: z.literal("end"), why: z.string() }),
  Stopped,
  NotYours,
]);
export type CheckReply = z.infer<typeof CheckReply>;

export const ReapReply = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("returned"), spent: Amount }),
  /** Its holder lives, or nobody can prove that it does not: the money stays where it is. */
  z.object({ kind: z.literal("held"), holder: z.string(), state: z.enum(["alive", "unknown"]) }),
  /** No lease: the attempt has ended, or never was. */
  z.object({ kind: z.literal("gone") }),
]);
export type ReapReply = z.infer<typeof ReapReply>;
