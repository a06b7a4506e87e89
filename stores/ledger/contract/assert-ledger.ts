import assert from "node:assert/strict";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { createLedger } from "../../../core/ledger/create-ledger.ts";
import { addsUp } from "../../../core/ledger/read-pot.ts";
import { sumPot } from "../../../core/ledger/sum-pot.ts";
import { openTrialAccount } from "../../../core/ledger/trial-account.ts";
import type { TrialAccount } from "../../../core/ledger/trial-account.ts";
import type { Amount, Caps } from "../../../core/model/ledger-amount.ts";
import type { AdmitRequest, LeaseStep, OpenLease } from "../../../core/model/ledger-request.ts";
import type { Ledger } from "../../../core/ports/ledger.ts";
import { systemClock } from "../../../host/system-clock.ts";
import type { LedgerFixture } from "./ledger-promise.ts";

/** A ledger of its own on the check's pot, as another process would have it. */
export async function newLedger({ openStore, pot, deaths }: LedgerFixture): Promise<Ledger> {
  return createLedger({ store: await openStore(), pot, deaths });
}

export interface PotRequest {
  readonly caps: Partial<Caps>;
  readonly width?: number;
}

/** A ledger whose pot is open. */
export async function openLedger(fixture: LedgerFixture, request: PotRequest): Promise<Ledger> {
  const ledger = await newLedger(fixture);
  await openPot(ledger, request);
  return ledger;
}

export async function openPot(ledger: Ledger, { caps, width = 1 }: PotRequest): Promise<void> {
  await ledger.open({ caps: { ...NO_CAPS, ...caps }, width, breakerThreshold: 5 });
}

/** An admission that claims at once. Its setting is its own, so that no other trial speaks for it. */
export function aTrial(attempt: string, over: Partial<AdmitRequest> = {}): AdmitRequest {
  return {
    attempt,
    by: `admission of ${attempt}`,
    order: 0,
    setting: attempt.slice(0, 64),
    least: amountOf({ rollouts: 1 }),
    trialCaps: NO_CAPS,
    claim: { token: `token of ${attempt}`, holder: "nobody" },
    ...over,
  };
}

/** The lease of a trial that must be admitted. */
export async function admitted(ledger: Ledger, request: AdmitRequest): Promise<OpenLease> {
  const admission = await ledger.admit(request);
  assert.equal(admission.kind, "admitted", `admission of ${request.attempt}`);
  assert.ok(admission.kind === "admitted");
  return admission.open;
}

/** The next step of a trial as `aTrial` claims it. */
export function step({ attempt, shard }: OpenLease, seq: number): LeaseStep {
  return { attempt, shard, token: `token of ${attempt}`, seq };
}

/** Asks the pot for dollars, beyond any earmark. */
export function drawOf(
  open: OpenLease,
  seq: number,
  { microUsd, settle = 0 }: { readonly microUsd: number; readonly settle?: number },
): Parameters<Ledger["draw"]>[0] {
  const need = amountOf({ microUsd });
  const settled = amountOf({ microUsd: settle });
  const nothing = amountOf({});
  return {
    ...step(open, seq),
    settle: settled,
    fromEarmark: nothing,
    fromPot: need,
    contested: true,
    need,
  };
}

/** The runner's side of an admitted trial. */
export function accountOf(ledger: Ledger, open: OpenLease, holder = "nobody"): TrialAccount {
  const token = `token of ${open.attempt}`;
  const owner = { open, token, holder, trialCaps: NO_CAPS };
  return openTrialAccount({ ledger, clock: systemClock }, owner);
}

export const LIMITS = { signal: new AbortController().signal, patienceMs: 30_000 };

/** Dollars of the pot: what remains, what open trials hold, what is spent. They must add up. */
export async function assertMoney(
  ledger: Ledger,
  expected: { readonly remaining: number; readonly held: number; readonly settled: number },
): Promise<void> {
  const view = await ledger.view();
  const { remaining, earmarked, leased, settled } = sumPot(view);
  const held = earmarked.microUsd + leased.microUsd;
  assert.deepEqual(
    { remaining: remaining.microUsd, held, settled: settled.microUsd },
    expected,
    "money of the pot",
  );
  assert.ok(addsUp(view), "the pot adds up in every unit");
}

export function usd(microUsd: number): Amount {
  return amountOf({ microUsd });
}
