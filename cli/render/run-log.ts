import type { RunEvent } from "../../core/events/run-event.ts";
import { renderFinalBlock } from "../../core/report/console/final-block.ts";
import { renderJobLines } from "../../core/report/console/job-lines.ts";
import { renderResumed } from "../../core/report/console/run-lines.ts";
import { showSafely } from "../../core/report/console/safe-text.ts";
import { renderTrialLine } from "../../core/report/console/trial-line.ts";
import type { SkippedTask } from "../../core/model/task.ts";
import type { CliContext } from "../context.ts";
import { StatusLine } from "./status-line.ts";

const MAX_SKIPPED = 5;

/** The block's last line, where tasks were left out: its score says nothing of them. */
export function renderSkipped(skipped: readonly SkippedTask[]): string[] {
  if (skipped.length === 0) return [];
  const names = skipped.slice(0, MAX_SKIPPED).map(({ name }) => name);
  const more = skipped.length - names.length;
  const all = more === 0 ? names : [...names, `and ${String(more)} more`];
  const count = skipped.length === 1 ? "1 task" : `${String(skipped.length)} tasks`;
  return [showSafely(`Skipped:   ${count} (${all.join(", ")})`)];
}

/** What a person sees while a run works: lines as trials end, above one status line on a terminal. */
export class RunLog {
  readonly #context: CliContext;
  readonly #options: { readonly quiet: boolean; readonly json: boolean };
  readonly #status: StatusLine;
  #skipped: readonly SkippedTask[] = [];

  constructor(context: CliContext, options: { quiet: boolean; json: boolean }) {
    this.#context = context;
    this.#options = options;
    this.#status = new StatusLine(context);
  }

  show(event: RunEvent): void {
    switch (event.type) {
      case "run-planned":
        for (const warning of event.plan.warnings) this.#note(`warning: ${warning}`);
        this.#skipped = event.plan.skipped;
        for (const { name, reason } of event.plan.skipped) this.#note(`skipped ${name}: ${reason}`);
        return;
      case "job-started":
        this.#status.startJob(event.job);
        return;
      case "cloud-run-started":
        this.#note(`run ${event.run}: ${String(event.attempts)} trials start in the account`);
        return;
      case "cloud-run-stopped":
        this.#note(`run ${event.run} is stopped; running now: ${String(event.running)}`);
        return;
      case "trial-started":
        this.#status.startTrial();
        return;
      case "trial-ended":
        this.#status.endTrial(event.record, event.retryInMs);
        this.#showTrial(event);
        return;
      case "job-ended":
        this.#showJob(event);
        return;
      case "spent":
        this.#status.spend(event);
        return;
      case "key-route":
        this.#note(routeText(event));
        return;
      case "agent-installing":
        this.#note(`installing ${event.name}, once for this computer`);
        return;
      case "warning":
        this.#note(`warning: ${event.message}`);
        return;
      case "phase-started":
      case "trial-line":
        // Of one trial among many: its own folder keeps them.
        return;
    }
  }

  /** Removes the status line; idempotent. */
  end(): void {
    this.#status.end();
  }

  #showTrial({ record, retryInMs }: Extract<RunEvent, { type: "trial-ended" }>): void {
    if (this.#options.quiet) return;
    if (retryInMs === null) this.#status.above(renderTrialLine(record));
    else {
      const why = record.outcome.kind === "unscored" ? record.outcome.detail : "";
      const text = `${record.rolloutName}: ${why}; next attempt in ${String(retryInMs / 1000)} s`;
      this.#note(showSafely(text));
    }
  }

  #showJob(event: Extract<RunEvent, { type: "job-ended" }>): void {
    const { jobDir, trials, elapsedSec, reused, ran, budget } = event;
    this.#status.end();
    for (const line of renderJobLines(trials, elapsedSec)) this.#context.err.write(`${line}\n`);
    if (event.job.resumed && reused > 0)
      this.#context.err.write(`${renderResumed(jobDir, reused, ran)}\n`);
    if (this.#options.json) return;
    const { resumed } = event.job;
    const block = renderFinalBlock(trials, { jobDir, elapsedSec, reused, resumed, budget });
    this.#context.out.write(`${[...block, ...renderSkipped(this.#skipped)].join("\n")}\n`);
  }

  #note(text: string): void {
    this.#status.above(showSafely(text));
  }
}

function routeText({
  keyName,
  hosts,
  translation,
}: Extract<RunEvent, { readonly type: "key-route" }>): string {
  const route = `${keyName} goes to ${hosts.join(", ")}`;
  if (translation === null) return route;
  return `${route}; the agent's ${translation.from} is translated into ${translation.to}`;
}
