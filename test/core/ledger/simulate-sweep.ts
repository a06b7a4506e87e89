import { amountOf, plus } from "../../../core/ledger/amounts.ts";
import { balanceOf } from "../../../core/ledger/caps.ts";
import { createLedger } from "../../../core/ledger/create-ledger.ts";
import { openTrialAccount } from "../../../core/ledger/trial-account.ts";
import type { TrialAccount } from "../../../core/ledger/trial-account.ts";
import { waitForAdmission } from "../../../core/ledger/wait-for-admission.ts";
import { LEDGER_UNITS } from "../../../core/model/ledger-amount.ts";
import type { Amount, Caps } from "../../../core/model/ledger-amount.ts";
import type { OpenLease } from "../../../core/model/ledger-request.ts";
import type { Ledger } from "../../../core/ports/ledger.ts";
import { isBalanced, recordsIn, viewOf } from "./inspect-table.ts";
import type { AttemptTruth, Sweep, SweepResult } from "./sweep.ts";
import { VirtualProcess, VirtualWorld, virtualDeaths } from "./virtual-world.ts";
import type { Weather } from "./virtual-world.ts";

const POT = "sweep";
const NEVER = new AbortController().signal;
const PATIENCE_MS = 10 * 60_000;

/** Runs the sweep to its end in virtual time. Throws when it never ends. */
export async function simulateSweep(sweep: Sweep): Promise<SweepResult> {
  return await new Simulation(sweep).run();
}

class Simulation {
  readonly #sweep: Sweep;
  readonly #world: VirtualWorld;
  readonly #processes = new Map<string, VirtualProcess>();
  readonly #attempts = new Map<string, AttemptTruth>();
  readonly #problems: unknown[] = [];
  #caps: Caps;
  #spent = amountOf({});
  #overshoot = amountOf({});
  #unbalanced = 0;
  #running = 0;
  #widest = 0;

  constructor(sweep: Sweep) {
    this.#sweep = sweep;
    this.#caps = sweep.caps;
    this.#world = new VirtualWorld(sweep.seed);
  }

  async run(): Promise<SweepResult> {
    const { weather, shardWidth, raise } = this.#sweep;
    const main = this.#process("main", { ...weather, failures: 0 });
    const ledger = this.#ledger(main);
    const open = { width: shardWidth, breakerThreshold: 0 };
    this.#go(async () => {
      await ledger.open({ caps: this.#caps, ...open });
      this.#world.onWrite = () => {
        if (!isBalanced(this.#world.table.items)) this.#unbalanced += 1;
      };
      if (raise !== null)
        this.#go(async () => {
          await main.clock.sleep(raise.atMs);
          this.#caps = raise.caps;
          await ledger.open({ caps: raise.caps, ...open });
        });
      await this.#startAll(main, ledger);
    });
    await this.#world.run(48 * 3_600_000);
    if (this.#problems.length > 0) throw this.#problems[0];
    return this.#result();
  }

  /** Trials start in plan order, as many at a time as the width allows. */
  async #startAll(main: VirtualProcess, ledger: Ledger): Promise<void> {
    const { trials, width, retries } = this.#sweep;
    for (let order = 0; order < trials; order += 1) {
      while (this.#running >= width) await main.clock.sleep(100);
      await this.#startAttempt({ main, ledger, order, attempt: 0, retries });
    }
  }

  async #startAttempt(start: {
    main: VirtualProcess;
    ledger: Ledger;
    order: number;
    attempt: number;
    retries: number;
  }): Promise<void> {
    const { main, ledger, order } = start;
    const attempt = `task-${String(order)}__${String(start.attempt)}`;
    const runner = this.#process(attempt, this.#sweep.weather);
    const admission = await waitForAdmission(
      { ledger, clock: main.clock },
      {
        attempt,
        by: attempt,
        order,
        setting: "s",
        least: plus(this.#sweep.worst, amountOf({ rollouts: 1 })),
        trialCaps: this.#sweep.trialCaps,
        claim: null,
      },
      NEVER,
    );
    if (admission.kind !== "admitted") return;
    const truth: AttemptTruth = {
      spent: amountOf({}),
      isExact: true,
      died: false,
      outcome: "running",
    };
    this.#attempts.set(attempt, truth);
    this.#running += 1;
    this.#widest = Math.max(this.#widest, this.#running);
    this.#go(async () => await this.#runAttempt(runner, attempt, truth));
    this.#go(async () => {
      await this.#watch(start, attempt, truth);
      this.#running -= 1;
      const isLost = truth.outcome === "lost" || truth.outcome === "failed";
      if (!isLost || start.retries === 0) return;
      await this.#startAttempt({
        ...start,
        attempt: start.attempt + 1,
        retries: start.retries - 1,
      });
    });
  }

  /** What the cloud's reaper does: it ends what its runner cannot end any more. */
  async #watch(
    { main, ledger }: { main: VirtualProcess; ledger: Ledger },
    attempt: string,
    truth: AttemptTruth,
  ): Promise<void> {
    while (truth.outcome === "running" && !truth.died) await main.clock.sleep(100);
    if (truth.outcome === "scored" || truth.outcome === "refused") return;
    if (truth.died) truth.outcome = "lost";
    for (;;) {
      const reply = await ledger.reap(attempt);
      if (reply.kind !== "held") return;
      await main.clock.sleep(1000);
    }
  }

  async #runAttempt(runner: VirtualProcess, attempt: string, truth: AttemptTruth): Promise<void> {
    const { deaths } = this.#sweep;
    if (this.#world.happens(deaths))
      this.#world.at(this.#world.int(0, 2000), () => {
        if (truth.outcome !== "running") return;
        truth.died = true;
        truth.isExact = false;
        runner.die(this.#world.int(0, 5000));
      });
    const ledger = this.#ledger(runner);
    try {
      const claim = { attempt, token: `of ${attempt}`, holder: attempt };
      const claimed = await ledger.claim(claim);
      if (claimed.kind !== "claimed") throw new Error(`claim: ${claimed.kind}`);
      await this.#work(runner, { ledger, open: claimed.open, truth });
    } catch (error) {
      // The ledger failed: the runner gives up, and as a process it ends.
      if (!(error instanceof Error)) throw error;
      truth.isExact = false;
      truth.outcome = "failed";
      runner.die(1000);
    }
  }

  async #work(
    runner: VirtualProcess,
    { ledger, open, truth }: { ledger: Ledger; open: OpenLease; truth: AttemptTruth },
  ): Promise<void> {
    const { attempt } = open;
    const owner = {
      open,
      token: `of ${attempt}`,
      holder: attempt,
      trialCaps: this.#sweep.trialCaps,
    };
    const account = openTrialAccount({ ledger, clock: runner.clock }, owner);
    this.#take(truth, amountOf({ rollouts: 1 }));
    const late: (() => Promise<void>)[] = [];
    let calls = this.#world.int(...this.#sweep.calls);
    let refused = false;
    let checkedMs = runner.clock.monotonicMs();
    const lane = async (): Promise<void> => {
      while (calls > 0 && !refused) {
        calls -= 1;
        // As a runner does: every ten seconds it looks whether it may go on, and how wide the run is.
        if (runner.clock.monotonicMs() - checkedMs >= 10_000) {
          checkedMs = runner.clock.monotonicMs();
          refused = (await account.check()) !== null;
          if (refused) return;
        }
        refused = !(await this.#call(runner, { account, truth, late }));
      }
    };
    await Promise.all(Array.from({ length: this.#sweep.lanes }, lane));
    // Late usage: some of it arrives just before the end, some after it.
    for (const settle of late) if (this.#world.happens(0.5)) await settle();
    await account.close({ complete: !refused, unpriced: false });
    for (const settle of late) await settle();
    truth.outcome = refused ? "refused" : "scored";
  }

  /** One model call: false when it was refused. */
  async #call(
    runner: VirtualProcess,
    run: { account: TrialAccount; truth: AttemptTruth; late: (() => Promise<void>)[] },
  ): Promise<boolean> {
    const { worst, callMs, actualPercent, lostUsage } = this.#sweep;
    const limits = { signal: NEVER, patienceMs: PATIENCE_MS };
    const reservation = await run.account.reserve(worst, limits);
    if (reservation.kind !== "granted") return false;
    const percent = this.#world.int(...actualPercent);
    const actual = {
      ...amountOf({}),
      microUsd: Math.floor((worst.microUsd * percent) / 100),
      tokens: Math.floor((worst.tokens * percent) / 100),
    };
    // The provider charges once the request is there, whatever becomes of the runner.
    this.#world.at(1, () => this.#take(run.truth, actual));
    await runner.clock.sleep(this.#world.int(...callMs));
    const settle = async (): Promise<void> => await run.account.settle(reservation.call, actual);
    if (!this.#world.happens(lostUsage)) await settle();
    else {
      run.truth.isExact = false;
      run.late.push(settle);
    }
    return true;
  }

  #take(truth: AttemptTruth, amount: Amount): void {
    truth.spent = plus(truth.spent, amount);
    this.#spent = plus(this.#spent, amount);
    const caps = balanceOf(this.#caps);
    for (const unit of LEDGER_UNITS) {
      const over = Math.max(this.#overshoot[unit], this.#spent[unit] - caps[unit]);
      this.#overshoot = { ...this.#overshoot, [unit]: over };
    }
  }

  #process(name: string, weather: Weather): VirtualProcess {
    const process = new VirtualProcess(this.#world, name, weather);
    this.#processes.set(name, process);
    return process;
  }

  #ledger(process: VirtualProcess): Ledger {
    const deaths = virtualDeaths(this.#processes);
    return createLedger({ store: process.store, pot: POT, deaths });
  }

  #go(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.#problems.push(error));
  }

  #result(): SweepResult {
    return {
      attempts: this.#attempts,
      records: recordsIn(this.#world.table.items, POT),
      view: viewOf(this.#world.table.items, POT),
      overshoot: this.#overshoot,
      unbalanced: this.#unbalanced,
      doubled: this.#world.doubled.length,
      writes: this.#world.writes,
      writesInBusiestSecond: Math.max(...this.#world.writesBySecond.values()),
      elapsedMs: this.#world.now,
      scored: [...this.#attempts.values()].filter(({ outcome }) => outcome === "scored").length,
      spent: this.#spent,
      widest: this.#widest,
    };
  }
}
