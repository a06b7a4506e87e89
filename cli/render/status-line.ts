import type { JobPlan } from "../../core/model/plan.ts";
import type { TrialRecord } from "../../core/model/record.ts";
import { formatCount, formatDollars } from "../../core/report/console/format-amounts.ts";
import type { CliContext } from "../context.ts";

const REDRAW_MS = 100;

/**
 * One line under the finished ones, on a terminal only: how many trials passed, failed, are unscored,
 * run and wait. Into a pipe only whole lines go.
 */
export class StatusLine {
  readonly #context: CliContext;
  readonly #isLive: boolean;
  #planned = 0;
  #counts = { passed: 0, failed: 0, unscored: 0, running: 0 };
  #spent = "";
  #isShown = false;
  #drawnAtMs = 0;

  constructor(context: CliContext) {
    const { err, env } = context;
    this.#context = context;
    const isAsked = env["BENCHFLOW_NO_PROGRESS"] === undefined && env["CI"] === undefined;
    this.#isLive = err.isTerminal && env["TERM"] !== "dumb" && isAsked;
  }

  startJob(job: JobPlan): void {
    const kept = job.trials.filter(({ action }) => action === "keep").length;
    this.#planned = job.trials.length - kept;
    this.#counts = { passed: 0, failed: 0, unscored: 0, running: 0 };
    this.#draw(true);
  }

  startTrial(): void {
    this.#counts.running += 1;
    this.#draw(false);
  }

  endTrial({ outcome }: TrialRecord, retryInMs: number | null): void {
    this.#counts.running -= 1;
    if (retryInMs !== null) return;
    if (outcome.kind === "unscored") this.#counts.unscored += 1;
    else if (outcome.passed) this.#counts.passed += 1;
    else this.#counts.failed += 1;
  }

  /** What the whole command has spent, earlier ones that it goes on with included. */
  spend({ microUsd, tokens }: { readonly microUsd: number; readonly tokens: number }): void {
    // Where no price is known the dollars are unknown too, and never shown as none.
    if (microUsd > 0) this.#spent = `, ${formatDollars(microUsd / 1e6)} spent`;
    else if (tokens > 0) this.#spent = `, ${formatCount(tokens)} tokens used`;
    this.#draw(false);
  }

  /** Writes a finished line; the status moves below it. */
  above(line: string): void {
    this.#clear();
    this.#context.err.write(`${line}\n`);
    this.#draw(true);
  }

  end(): void {
    this.#clear();
    this.#planned = 0;
  }

  #draw(isDue: boolean): void {
    if (!this.#isLive || this.#planned === 0) return;
    const nowMs = performance.now();
    if (!isDue && nowMs - this.#drawnAtMs < REDRAW_MS) return;
    this.#drawnAtMs = nowMs;
    const { passed, failed, unscored, running } = this.#counts;
    const left = this.#planned - passed - failed - unscored - running;
    const text =
      `${String(passed)} passed, ${String(failed)} failed, ${String(unscored)} unscored, ` +
      `${String(running)} running, ${String(left)} waiting${this.#spent}`;
    // Without autowrap a line that is too long is cut by the terminal, also after it was made narrower.
    this.#context.err.write(
      `\r\u001B[J\u001B[?7l${text.slice(0, this.#context.err.columns - 1)}\u001B[?7h`,
    );
    this.#isShown = true;
  }

  #clear(): void {
    if (this.#isShown) this.#context.err.write("\r\u001B[J");
    this.#isShown = false;
  }
}
