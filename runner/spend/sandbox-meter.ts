import { messageOf } from "../../core/errors.ts";
import type { TrialAccount } from "../../core/ledger/trial-account.ts";
import type { Amount } from "../../core/model/ledger-amount.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { BudgetStop } from "./budget-stop.ts";

/** How often a sandbox's time is paid for. */
const SLICE_MS = 60_000;
/**
 * What is reserved beyond a slice: the longest that the next one can be held behind a model call that
 * waits for money, and the time that a kill takes.
 */
const SPARE_MS = 130_000;

/** What must be in the pot for a sandbox to start, in milliseconds of it. */
export const SANDBOX_RESERVE_MS = SLICE_MS + SPARE_MS;

/** Pays for a sandbox's time while it lives. */
export interface SandboxMeter {
  /** Settles what was used since the last slice; called when the sandbox is proven gone. Idempotent. */
  end(): Promise<void>;
}

export interface MeterOptions {
  readonly account: Pick<TrialAccount, "reserve" | "settle">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told once that the pot refused the next slice: the sandbox has to end. */
  readonly onRefused: (stop: BudgetStop) => void;
}

interface Slice {
  readonly call: string;
  readonly fromMs: number;
}

/**
 * Sandbox time as calls on the trial's account: the next slice is reserved before the last one ends,
 * then the last one is settled. Throws `BudgetStop` when the first is refused, and what the ledger
 * threw when it cannot be reached.
 */
export async function startSandboxMeter(options: MeterOptions): Promise<SandboxMeter> {
  const { account, clock } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  let slice = await reserveSlice(options, options.signal);
  const renew = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(SLICE_MS, signal);
      const next = await reserveSlice(options, signal);
      const { call, fromMs } = slice;
      slice = next;
      await account.settle(call, sandboxTime(next.fromMs - fromMs));
    }
  };
  const renewing = renew().catch((thrown: unknown) => {
    if (signal.aborted) return;
    // A ledger that fails ends spending as a refusal does.
    options.onRefused(thrown instanceof BudgetStop ? thrown : new BudgetStop(messageOf(thrown)));
  });
  let ending: Promise<void> | null = null;
  const end = async (): Promise<void> => {
    ended.abort();
    await renewing;
    // A sandbox that took longer to end than any kill may is charged what was reserved for it.
    const usedMs = Math.min(clock.monotonicMs() - slice.fromMs, SANDBOX_RESERVE_MS);
    await account.settle(slice.call, sandboxTime(usedMs));
  };
  return { end: () => (ending ??= end()) };
}

async function reserveSlice({ account, clock }: MeterOptions, signal: AbortSignal): Promise<Slice> {
  const worst = sandboxTime(SANDBOX_RESERVE_MS);
  const reservation = await account.reserve(worst, { signal, patienceMs: SLICE_MS });
  if (reservation.kind === "granted")
    return { call: reservation.call, fromMs: clock.monotonicMs() };
  if (reservation.kind === "refused") throw new BudgetStop(reservation.why, reservation.by);
  throw new BudgetStop(`the trial's own limit of ${reservation.unit} is reached`);
}

function sandboxTime(ms: number): Amount {
  return { microUsd: 0, tokens: 0, sandboxMs: Math.ceil(ms), rollouts: 0 };
}
