import type { BenchError } from "../core/errors.ts";
import { openTrialAccount } from "../core/ledger/trial-account.ts";
import { cappedUnits, NO_CAPS, parseCaps, parseTrialCap } from "../core/ledger/caps.ts";
import { bearableWidth, earmarkFor } from "../core/ledger/decide-admission.ts";
import { queueWork } from "../core/ledger/queue-work.ts";
import { reapDead } from "../core/ledger/reap-dead.ts";
import { spendable, sumPot } from "../core/ledger/sum-pot.ts";
import { type BudgetQuestion, summarizeBudget } from "../core/ledger/summarize-budget.ts";
import { waitForAdmission } from "../core/ledger/wait-for-admission.ts";
import type { Amount, Caps, LedgerUnit } from "../core/model/ledger-amount.ts";
import type { BudgetSummary } from "../core/model/ledger-budget.ts";
import type { Stop } from "../core/model/ledger-pot.ts";
import type { RunPlan } from "../core/model/plan.ts";
import type { TrialRecord } from "../core/model/record.ts";
import type { AdmitRequest } from "../core/model/ledger-request.ts";
import { isRefusedByProvider } from "../core/outcome/refused-by-provider.ts";
import type { Ledger } from "../core/ports/ledger.ts";
import { KeyWatch } from "../runner/model-access/key-watch.ts";
import type { TrialSpend } from "../runner/spend/trial-spend.ts";
import { leastSpend } from "./least-spend.ts";
import { checkKept } from "./check-kept.ts";
import { potOf } from "./pot-name.ts";
import { connectModels } from "./connect-models.ts";
import type { RunWorld } from "./run-deps.ts";
import { refusedKey } from "./refused-key.ts";
import type { RunModels } from "./run-models.ts";

/** A trial that asks to start. */
export interface TrialAsk {
  /** Names the attempt for ever. */
  readonly attempt: string;
  /** Place in the plan: whoever is earlier is served first when money is short. */
  readonly order: number;
  /** False for work that only has to be verified again. */
  readonly callsModels: boolean;
}

export type TrialStart =
  | { readonly kind: "admitted"; readonly spend: TrialSpend }
  /** The pot cannot pay for it: it does not start, and a raised cap lets the same command start it. */
  | { readonly kind: "refused" }
  /** Something stopped the whole pot. */
  | { readonly kind: "stopped"; readonly stop: Stop };

/** What a job's summary asks of the pot: names of its own trials. */
export interface BudgetLists {
  readonly cancelled: readonly string[];
  readonly notStarted: readonly string[];
}

/** The money of one command (design 8): one pot for all its repeats, retries and resumes. */
export interface RunSpend {
  /** Names the pot in evaluation.json. */
  readonly pot: string;
  /** Waits until the pot can set aside what a trial may need. Throws the signal's reason. */
  admit(ask: TrialAsk, signal: AbortSignal): Promise<TrialStart>;
  /** Counts refusals of the provider in a row (attack 9). */
  noteEnding(trial: string, ending: Pick<TrialRecord, "outcome" | "error">): Promise<void>;
  budget(lists: BudgetLists): Promise<BudgetSummary>;
  /** Why no further trial of the command can work (`config`); null while nothing says so. */
  refusal(): BenchError | null;
  /** What was spent so far, open calls not counted. */
  spent(): Promise<Pick<Amount, "microUsd" | "tokens">>;
  close(): Promise<void>;
}

export interface SpendOptions {
  readonly plan: RunPlan;
  readonly models: RunModels | null;
  /** Sandboxes of dead runs are gone: what their runners held may come back. */
  readonly world: Pick<
    RunWorld,
    "store" | "clock" | "openLedger" | "newHex8" | "ownerProcess" | "onEvent" | "modelLimits"
  >;
}

/**
 * Opens the command's pot, or goes on with it. Throws `BenchError` when the ledger cannot be had.
 */
export async function openRunSpend(options: SpendOptions): Promise<RunSpend> {
  const { plan, models, world } = options;
  const { settings } = plan;
  const caps = parseCaps(settings);
  const least = leastSpend(settings, models, world.clock.now());
  const { pot, ofJob, uncounted } = await potOf(plan, world);
  const { ledger, close } = await world.openLedger(pot);
  try {
    if (ofJob !== null) await checkKept(ledger, ofJob);
    const { concurrency: width, breakerThreshold } = settings;
    await ledger.open({ caps, width, breakerThreshold });
    await reapDead(ledger);
    const left = spendable(await ledger.view());
    const bearable = bearableWidth(left, caps, least);
    const bearsNone = cappedUnits(caps).some((unit) => left[unit] < least[unit]);
    // A pot that bears none says so when its trials do not start.
    if (bearable < width && !bearsNone)
      world.onEvent({ type: "warning", message: narrowed(bearable, width) });
    if (uncounted !== null && cappedUnits(caps).length > 0)
      world.onEvent({ type: "warning", message: countsAnew(uncounted) });
  } catch (error) {
    await close();
    throw error;
  }
  return new CommandSpend(options, { pot, ledger, close, caps, least });
}

/** Attack 13: worst cases must leave room for each other, so a small cap runs fewer at a time. */
function narrowed(bearable: number, width: number): string {
  const trials = bearable === 1 ? "1 trial" : `${String(bearable)} trials`;
  return `what is left of the cap bears ${trials} at a time, not -j ${String(width)}`;
}

/** Nothing but the trials is needed to resume (docs/resume.md), but only evaluation.json names the pot. */
function countsAnew(job: string): string {
  return `what job ${job} has spent is not known, its evaluation.json cannot be read: the cap counts from 0`;
}

interface OpenPot {
  readonly pot: string;
  readonly ledger: Ledger;
  readonly close: () => Promise<void>;
  readonly caps: Caps;
  readonly least: Amount;
}

type Answer = Awaited<ReturnType<typeof waitForAdmission>>;
type Refusal = Pick<BudgetQuestion, "refusedUnit" | "refusedNeed">;

class CommandSpend implements RunSpend {
  readonly pot: string;
  readonly #options: SpendOptions;
  readonly #open: OpenPot;
  readonly #trialCaps: Caps;
  /** One after the other, so that trials start in the order in which they ask. */
  readonly #inTurn = queueWork();
  readonly #keyWatch: KeyWatch;
  /** The first refusal: of what unit, and how much the trial needed. */
  #refused: Refusal | null = null;

  constructor(options: SpendOptions, open: OpenPot) {
    const { maxCostPerTrialUsd, breakerThreshold } = options.plan.settings;
    this.pot = open.pot;
    this.#keyWatch = new KeyWatch(breakerThreshold);
    this.#options = options;
    this.#open = open;
    this.#trialCaps = { ...NO_CAPS, microUsd: parseTrialCap(maxCostPerTrialUsd) };
  }

  async admit({ attempt, order, callsModels }: TrialAsk, signal: AbortSignal): Promise<TrialStart> {
    const { world, plan } = this.#options;
    const { ledger, least } = this.#open;
    const token = `${world.newHex8()}${world.newHex8()}`;
    const holder = world.ownerProcess;
    const setting = plan.settingsDigest.slice(-32);
    const trialCaps = callsModels ? this.#trialCaps : NO_CAPS;
    const request = {
      attempt,
      by: token,
      order,
      // What verifying alone needs says nothing of what an agent needs.
      setting: callsModels ? setting : `verify-${setting}`,
      least: callsModels ? least : { ...least, microUsd: 0, tokens: 0 },
      trialCaps,
      claim: { token, holder },
    };
    const deps = { ledger, clock: world.clock };
    const admission = await this.#inTurn(() =>
      callsModels ? this.#askWithKey(request, signal) : waitForAdmission(deps, request, signal),
    );
    switch (admission.kind) {
      case "admitted": {
        const owner = { open: admission.open, token, holder, trialCaps };
        const account = openTrialAccount(deps, owner);
        return { kind: "admitted", spend: { account, models: this.#modelsOn(account) } };
      }
      case "refused":
        this.#refused ??= await this.#refusalOf(admission.unit, request);
        return { kind: "refused" };
      case "stopped":
        return { kind: "stopped", stop: admission.stop };
      case "taken":
      case "gone":
        throw new Error(`attempt ${attempt} was admitted before`);
    }
  }

  /** Whoever waits for the pot when the key turns out to be refused waits no more. */
  async #askWithKey(request: AdmitRequest, signal: AbortSignal): Promise<Answer> {
    const { refused } = this.#keyWatch;
    const deps = { ledger: this.#open.ledger, clock: this.#options.world.clock };
    try {
      return await waitForAdmission(deps, request, AbortSignal.any([refused, signal]));
    } catch (error) {
      if (!refused.aborted || signal.aborted) throw error;
      return { kind: "stopped", stop: { kind: "breaker", reason: String(refused.reason) } };
    }
  }

  async #refusalOf(refusedUnit: LedgerUnit | null, request: AdmitRequest): Promise<Refusal> {
    if (refusedUnit === null) return { refusedUnit };
    const needs = earmarkFor(await this.#open.ledger.view(), request);
    return { refusedUnit, refusedNeed: needs[refusedUnit] };
  }

  #modelsOn(account: TrialSpend["account"]): TrialSpend["models"] {
    const { plan, models, world } = this.#options;
    if (models === null) return null;
    const { caps } = this.#open;
    return connectModels(account, {
      models,
      maxOutputTokens: plan.settings.maxOutputTokens,
      capped: {
        microUsd: caps.microUsd !== null || this.#trialCaps.microUsd !== null,
        tokens: caps.tokens !== null,
      },
      clock: world.clock,
      keyWatch: this.#keyWatch,
      limits: world.modelLimits ?? {},
      onWarning: (message) => world.onEvent({ type: "warning", message }),
    });
  }

  async noteEnding(trial: string, ending: Pick<TrialRecord, "outcome" | "error">): Promise<void> {
    if (this.#options.models === null) return;
    const refusedByProvider = isRefusedByProvider(ending);
    await this.#open.ledger.noteEnding({ trial, refusedByProvider });
  }

  async budget({ cancelled, notStarted }: BudgetLists): Promise<BudgetSummary> {
    const view = await this.#open.ledger.view();
    const refused = this.#refused ?? { refusedUnit: null };
    return summarizeBudget({ view, ...refused, cancelled, notStarted });
  }

  refusal(): BenchError | null {
    const { models } = this.#options;
    return models !== null && this.#keyWatch.refused.aborted ? refusedKey(models) : null;
  }

  async spent(): Promise<Pick<Amount, "microUsd" | "tokens">> {
    const { microUsd, tokens } = sumPot(await this.#open.ledger.view()).settled;
    return { microUsd, tokens };
  }

  async close(): Promise<void> {
    await this.#open.close();
  }
}
