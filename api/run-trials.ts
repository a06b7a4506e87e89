import pLimit from "p-limit";
import type { JobPlan, PlannedTrial, RunPlan } from "../core/model/plan.ts";
import type { TrialRecord } from "../core/model/record.ts";
import type { Task } from "../core/model/task.ts";
import type { AttemptSpec } from "../core/model/trial.ts";
import { afterTrial, breakerMessage, closedBreaker } from "../core/plan/circuit-breaker.ts";
import { decideRetry, type RetryDecision } from "../core/plan/decide-retry.ts";
import { rolloutNameOf } from "../core/plan/rollout-name.ts";
import type { JobFolder } from "../core/ports/job-store.ts";
import type { Agent } from "../runner/agents/agent.ts";
import { PreparedImages } from "../runner/prepared-images.ts";
import { runTrial, sealUnstarted, type TrialDeps } from "../runner/run-trial.ts";
import type { TrialSpend } from "../runner/spend/trial-spend.ts";
import { attemptSpec } from "./attempt-spec.ts";
import { NopVerdicts } from "./nop-verdicts.ts";
import type { RunDeps } from "./run-deps.ts";
import type { RunSpend, TrialAsk, TrialStart } from "./run-spend.ts";

export interface JobRun {
  readonly plan: RunPlan;
  readonly job: JobPlan;
  readonly folder: JobFolder;
  readonly agent: Agent;
  readonly deps: RunDeps;
  /** Names of trials that the pot could not pay for, as they are refused. */
  readonly notStarted: Set<string>;
}

/**
 * Carries out the planned trials of one repeat in plan order, `-j` at a time, each with its retries.
 * One trial's failure does not touch the others; a failure of the store, or an interruption, stops
 * them all, and is thrown when the last sandbox is gone. Resolves to the number of trials that
 * ran to their end.
 */
export async function runTrials(run: JobRun): Promise<number> {
  const stop = new AbortController();
  const queue = new TrialQueue(run, stop);
  const todo = run.job.trials.flatMap((trial, place) =>
    trial.action === "run" || trial.action === "verify-only" ? [{ trial, place }] : [],
  );
  const failures: unknown[] = [];
  let ended = 0;
  await Promise.all(
    todo.map(async ({ trial, place }) => {
      try {
        if (await queue.runToEnd(trial, place)) ended += 1;
      } catch (error) {
        failures.push(error);
        stop.abort(error);
      }
    }),
  );
  if (run.job.repeat === run.plan.jobs.at(-1)?.repeat) run.deps.backend.rest?.();
  run.folder.lost.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  return ended;
}

interface EndedAttempt {
  readonly record: TrialRecord;
  readonly decision: RetryDecision;
}

/** What a trial's next attempt has to know of those before it. */
interface Before {
  /** The attempt whose saved work is only to be verified again. */
  verifyOnlyFrom: string | null;
  verifierFailures: number;
}

class TrialQueue {
  readonly #run: JobRun;
  readonly #stop: AbortController;
  readonly #signal: AbortSignal;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #images: PreparedImages;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #nop: NopVerdicts;
  #breaker;

  constructor(run: JobRun, stop: AbortController) {
    const { settings, tasks } = run.plan;
    this.#run = run;
    this.#stop = stop;
    this.#signal = AbortSignal.any([run.deps.signal, run.folder.lost, stop.signal]);
    this.#limit = pLimit(settings.concurrency);
    this.#images = new PreparedImages(
      run.deps.backend,
      settings.buildConcurrency ?? settings.concurrency,
    );
    this.#tasks = new Map(tasks.map((task) => [task.name, task]));
    this.#nop = new NopVerdicts(run.deps.store, settings.jobsDir);
    this.#breaker = closedBreaker(settings.breakerThreshold);
  }

  /**
   * Attempts a trial until its result stands; false when the run was stopped before. Waits between
   * attempts hold no place in the queue.
   */
  async runToEnd(trial: PlannedTrial, place: number): Promise<boolean> {
    const task = this.#tasks.get(trial.taskName);
    if (task === undefined) throw new Error(`the plan has no task ${trial.taskName}`);
    const before: Before = {
      verifyOnlyFrom: trial.action === "verify-only" ? trial.rolloutName : null,
      verifierFailures: trial.verifierFailures,
    };
    for (let made = 1; !this.#signal.aborted; made += 1) {
      const spec = this.#specOf(task, trial.attempt + made - 1, before);
      const ended = await this.#limit(() => this.#takeTurn(spec, made, place));
      if (ended === null) return false;
      const { record, decision } = ended;
      if (!decision.retry) return !this.#signal.aborted || record.outcome.kind === "scored";
      before.verifyOnlyFrom = decision.verifyOnly ? record.rolloutName : null;
      before.verifierFailures = record.verification?.failures ?? 0;
      await this.#wait(decision.delayMs);
    }
    return false;
  }

  /**
   * One attempt and what follows from it. Both are over before the place in the queue is free, so that
   * the next trial starts knowing that the store failed or that the breaker is open.
   */
  async #takeTurn(
    spec: AttemptSpec,
    attemptsMade: number,
    place: number,
  ): Promise<EndedAttempt | null> {
    try {
      const record = await this.#attempt(spec, place);
      if (record === null) return null;
      const decision = this.#decide(record, attemptsMade);
      const retryInMs = decision.retry && !this.#signal.aborted ? decision.delayMs : null;
      if (!decision.retry) await this.#noteEnding(record);
      this.#run.deps.onEvent({ type: "trial-ended", record, retryInMs });
      await this.#tellSpent();
      return { record, decision };
    } catch (error) {
      this.#stop.abort(error);
      throw error;
    }
  }

  #specOf(task: Task, attempt: number, before: Before): AttemptSpec {
    const { plan, job, deps, folder } = this.#run;
    const rolloutName = rolloutNameOf(task.name, deps.newHex8());
    const runId = folder.token;
    const { verifyOnlyFrom, verifierFailures: earlierVerifierFailures } = before;
    const earlier = { verifyOnlyFrom, earlierVerifierFailures };
    return attemptSpec({ plan, job, task, attempt, rolloutName, runId, ...earlier });
  }

  async #noteEnding(record: TrialRecord): Promise<void> {
    const { deps, job } = this.#run;
    const { outcome, error, taskName } = record;
    this.#breaker = afterTrial(this.#breaker, outcome, { transient: error?.transient ?? false });
    await deps.spend?.noteEnding(`${String(job.repeat)}/${taskName}`, record);
  }

  async #tellSpent(): Promise<void> {
    const { spend, onEvent } = this.#run.deps;
    if (spend !== null) onEvent({ type: "spent", ...(await spend.spent()) });
  }

  /** One attempt; null when the run was stopped before it began, or the pot cannot pay for it. */
  async #attempt(spec: AttemptSpec, place: number): Promise<TrialRecord | null> {
    if (this.#signal.aborted) return null;
    if (this.#breaker.isOpen) return await this.#skip(spec, breakerMessage(this.#breaker));
    const { deps, job, notStarted } = this.#run;
    if (deps.spend === null) return await this.#carryOut(spec, null);
    const order = (job.repeat - 1) * job.trials.length + place;
    const start = await this.#admit(deps.spend, {
      attempt: spec.rolloutName,
      order,
      callsModels: spec.verifyOnlyFrom === null,
    });
    if (start === null) return null;
    if (start.kind === "admitted") return await this.#carryOut(spec, start.spend);
    if (start.kind === "stopped" && start.stop.kind === "breaker")
      return await this.#skip(spec, `skipped: ${start.stop.reason}`);
    notStarted.add(spec.task.name);
    return null;
  }

  /** Null when the run was stopped meanwhile. */
  async #admit(spend: RunSpend, ask: TrialAsk): Promise<TrialStart | null> {
    try {
      return await spend.admit(ask, this.#signal);
    } catch (error) {
      if (this.#signal.aborted) return null;
      throw error;
    }
  }

  /** Seals an attempt that trials before it keep from starting, so that the tree says why. */
  async #skip(spec: AttemptSpec, message: string): Promise<TrialRecord> {
    const trialDeps = await this.#open(spec, null);
    return await sealUnstarted(spec, trialDeps, { kind: "circuit-open", message });
  }

  async #carryOut(spec: AttemptSpec, spend: TrialSpend | null): Promise<TrialRecord> {
    let trialDeps: TrialDeps;
    try {
      trialDeps = await this.#open(spec, spend);
    } catch (error) {
      await spend?.account.close({ complete: false, unpriced: false });
      throw error;
    }
    return await runTrial(spec, trialDeps);
  }

  async #open(spec: AttemptSpec, spend: TrialSpend | null): Promise<TrialDeps> {
    const { agent, deps, folder, plan } = this.#run;
    const { rolloutName, attempt } = spec;
    deps.onEvent({ type: "trial-started", taskName: spec.task.name, rolloutName, attempt });
    return {
      agent,
      backend: deps.backend,
      images: this.#images,
      folder: await folder.openAttempt(rolloutName),
      rolloutDir: `${folder.dir}/${rolloutName}`,
      clock: deps.clock,
      ownerProcess: deps.ownerProcess,
      onEvent: deps.onEvent,
      signal: this.#signal,
      settings: plan.settings,
      spend,
      askNop: async (asked) => await this.#nop.ask(asked),
    };
  }

  #decide(record: TrialRecord, attemptsMade: number): RetryDecision {
    const { retryAttempts } = this.#run.plan.settings;
    const { outcome, workspaceSaved } = record;
    const transient = record.error?.transient ?? false;
    return decideRetry({ outcome, attemptsMade, retryAttempts, workspaceSaved, transient });
  }

  async #wait(delayMs: number): Promise<void> {
    try {
      await this.#run.deps.clock.sleep(delayMs, this.#signal);
    } catch (error) {
      // The loop's condition sees the stop; anything else is not ours to hide.
      if (!this.#signal.aborted) throw error;
    }
  }
}
