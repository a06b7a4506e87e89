import type { AttemptSpec } from "../core/model/trial.ts";
import type { TrialRecord } from "../core/model/record.ts";
import { readEarlierAttempt, readEvaluation } from "../core/plan/read-earlier-jobs.ts";
import { contextDigestOf, mayEqual } from "../core/plan/trial-version.ts";
import type { JobStore } from "../core/ports/job-store.ts";

/**
 * What the nop control's trials below a jobs folder say of verifiers (attack 32): whether the same
 * version of a task gave a verdict on an untouched workspace in the same kind of sandbox. They are
 * read when a verifier first failed twice, once for a command; a control that is run later is seen by
 * the next command.
 */
export class NopVerdicts {
  readonly #store: JobStore;
  readonly #jobsDir: string;
  #records: Promise<readonly TrialRecord[]> | null = null;

  constructor(store: JobStore, jobsDir: string) {
    this.#store = store;
    this.#jobsDir = jobsDir;
  }

  /** True or false by what nop's verifier did; null when no nop control of that task is there. */
  async ask(spec: AttemptSpec): Promise<boolean | null> {
    this.#records ??= this.#read();
    const contextDigest = contextDigestOf(spec.task);
    const same = (await this.#records).filter(
      (record) =>
        record.taskDigest === spec.task.digest &&
        mayEqual(record.contextDigest, contextDigest) &&
        record.isolation?.backend === spec.environment,
    );
    const verdicts = new Set(same.map(hasVerdict));
    if (verdicts.has(true)) return true;
    return verdicts.has(false) ? false : null;
  }

  async #read(): Promise<readonly TrialRecord[]> {
    const records: TrialRecord[] = [];
    for await (const ref of this.#store.listJobs(this.#jobsDir)) {
      const evaluation = await readEvaluation(this.#store, ref);
      if (evaluation?.config["agent"] !== "nop") continue;
      for await (const stored of (await this.#store.readJob(ref)).attempts()) {
        const earlier = readEarlierAttempt(stored);
        if (earlier.kind === "ended") records.push(earlier.record);
      }
    }
    return records;
  }
}

/** Null for a trial that never came to its verifier: it says nothing of it. */
function hasVerdict({ outcome, verifierError }: TrialRecord): boolean | null {
  if (outcome.kind === "scored") return true;
  return verifierError === null ? null : false;
}
