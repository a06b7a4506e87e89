import type { PotView, Stop } from "../model/ledger-pot.ts";
import type {
  Admission,
  AdmitRequest,
  ChargeRequest,
  CheckReply,
  ClaimReply,
  ClaimRequest,
  CloseRequest,
  DrawReply,
  DrawRequest,
  GiveRequest,
  LeaseStep,
  OpenRequest,
  ReapReply,
  StepReply,
  TurnReply,
  TurnRequest,
  WaitRequest,
} from "../model/ledger-request.ts";

/**
 * One pot of money for one command (design 8): agents, models, repeats, retries and resumes draw from
 * it, from any number of processes. Spending past a cap is impossible by construction: nothing may be
 * spent that was not leased, and a lease is taken from what remains by one conditional update.
 *
 * A request sent twice, or late, changes nothing twice. Every call throws `BenchError` (`unavailable`)
 * when the ledger cannot be read or written; nothing may be spent after that.
 */
export interface Ledger {
  /**
   * Makes the pot, or goes on with it: what was spent before counts, a changed cap takes effect at
   * once, and a stop that an earlier command ended with is cleared. Throws `BenchError` (`usage`) for
   * a cap that is lowered under what running trials hold.
   */
  open(request: OpenRequest): Promise<PotView>;
  /** Sets aside what a trial may need (attack 1). One try; `waitForAdmission` waits. */
  admit(request: AdmitRequest): Promise<Admission>;
  /** The first act of a runner that did not admit itself: one token has an attempt, for ever. */
  claim(request: ClaimRequest): Promise<ClaimReply>;
  draw(request: DrawRequest): Promise<DrawReply>;
  give(request: GiveRequest): Promise<StepReply>;
  wait(request: WaitRequest): Promise<StepReply>;
  turn(request: TurnRequest): Promise<TurnReply>;
  /** Stops waiting. */
  leave(request: LeaseStep): Promise<StepReply>;
  charge(request: ChargeRequest): Promise<StepReply>;
  /** Charges what was spent, returns the rest, ends the attempt. */
  close(request: CloseRequest): Promise<StepReply>;
  /** Whether the trial may go on; a runner asks every few seconds. */
  check(step: Pick<LeaseStep, "attempt" | "shard" | "token">): Promise<CheckReply>;
  /**
   * Ends an attempt whose runner cannot. All that it might have spent is charged, the rest returned,
   * and only when its holder is proven dead; or when no runner has claimed it, and none can any more.
   * Its sandbox must be gone before.
   */
  reap(attempt: string): Promise<ReapReply>;
  /** Nothing new is admitted or leased until a command opens the pot again. */
  stop(stop: Stop): Promise<void>;
  /** Tells how a trial ended; enough refusals by the provider in a row stop the run (attack 9). */
  noteEnding(ending: TrialEnding): Promise<void>;
  /** Throws `BenchError` (`config`) when there is no such pot. */
  view(): Promise<PotView>;
}

export interface TrialEnding {
  /** Names the trial, not the attempt: a retry that is refused again counts once. */
  readonly trial: string;
  /** The provider refused the trial for good (401, 402, 403, an unknown model). */
  readonly refusedByProvider: boolean;
}

/** Tells whether the holder of a lease still lives. `unknown` returns no money. */
export interface Deaths {
  stateOf(holder: string): Promise<"alive" | "dead" | "unknown">;
}
