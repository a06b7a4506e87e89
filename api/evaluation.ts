import type { OnEvent } from "../core/events/run-event.ts";
import type { BudgetSummary } from "../core/model/ledger-budget.ts";
import { RunSettings, type RunSettingsInput } from "../core/model/settings.ts";
import { nameOwnFiles } from "./name-own-files.ts";
import { openRunWorld } from "./open-run-world.ts";
import { type EndedRun, runBenchmark } from "./run-benchmark.ts";
import { summarizeEndedRun } from "./summarize-ended-run.ts";

/** The settings of a run besides its two folders; the same names as the flags have (spec 3.2). */
export type EvaluationConfigInput = Omit<RunSettingsInput, "tasksDir" | "jobsDir">;

/**
 * How an evaluation runs. Defaults are those of `bench run`. Throws a `ZodError` that names the
 * field for a value that the command line would refuse too.
 */
export class EvaluationConfig {
  readonly settings: Omit<RunSettings, "tasksDir" | "jobsDir">;

  constructor(input: EvaluationConfigInput = {}) {
    const {
      tasksDir: _,
      jobsDir: __,
      ...settings
    } = RunSettings.parse({ ...input, tasksDir: "." });
    this.settings = settings;
  }
}

export interface EvaluationOptions {
  /** A task folder, or a folder of tasks. */
  readonly tasksDir: string;
  /** Default `jobs`. */
  readonly jobsDir?: string;
  readonly config?: EvaluationConfig;
  /** Sees everything the run tells while it works. */
  readonly onEvent?: OnEvent;
  /** Ends the run cleanly; `run` then rejects with a `BenchError` of kind `interrupted`. */
  readonly signal?: AbortSignal;
  /** Where DOCKER_HOST, HOME, provider keys and variables for `passEnv` are looked up; nothing by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What the error without a Docker daemon says to do; default: `bench run` with `--env local`. */
  readonly nextWithoutDocker?: string;
}

/** What an evaluation came to. Counts are of trials over all repeats. */
export interface EvaluationResult {
  readonly passed: number;
  readonly failed: number;
  readonly errored: number;
  readonly verifierErrored: number;
  readonly total: number;
  /** `passed / total`; null when no trial counts. */
  readonly score: number | null;
  readonly meanReward: number | null;
  readonly reused: number;
  readonly ran: number;
  /** The job's folder; of a run with repeats the last one's. */
  readonly jobDir: string;
  readonly jobDirs: readonly string[];
  /** What the run has spent under which caps (spec 5.5); null where nobody counts. */
  readonly budget: BudgetSummary | null;
}

/**
 * The mission page's example from code:
 *
 * ```ts
 * const evaluation = new Evaluation({ tasksDir: "tasks", jobsDir: "jobs/ts",
 *   config: new EvaluationConfig({ agent: "oracle", environment: "docker", concurrency: 2 }) });
 * const result = await evaluation.run();
 * console.log(result.passed, result.total, result.score, result.jobDir);
 * ```
 *
 * It installs no signal handlers, prints nothing, never exits, and may run several times in one
 * process (attack 37).
 */
export class Evaluation {
  readonly #options: EvaluationOptions;

  constructor(options: EvaluationOptions) {
    this.#options = options;
  }

  /** Runs or resumes. Throws `BenchError` for bad input, before anything is created. */
  async run(): Promise<EvaluationResult> {
    const { tasksDir, jobsDir = "jobs", config = new EvaluationConfig(), signal } = this.#options;
    const typed: RunSettings = { ...config.settings, tasksDir, jobsDir };
    const settings = await nameOwnFiles(typed, "");
    const world = openRunWorld(settings, {
      env: this.#options.env ?? {},
      nextWithoutDocker: this.#options.nextWithoutDocker,
      onEvent: this.#options.onEvent ?? (() => undefined),
      signal: signal ?? new AbortController().signal,
    });
    const run = await runBenchmark(settings, world);
    const { writeReports } = await import("./write-reports.ts");
    await writeReports(run);
    return resultOf(run);
  }
}

function resultOf(run: EndedRun): EvaluationResult {
  const summary = summarizeEndedRun(run);
  const jobDirs = run.jobs.map(({ jobDir }) => jobDir);
  return {
    passed: summary.passed,
    failed: summary.failed,
    errored: summary.errored,
    verifierErrored: summary.verifier_errored,
    total: summary.total,
    score: summary.total === 0 ? null : summary.passed / summary.total,
    meanReward: summary.mean_reward,
    reused: summary.reused,
    ran: summary.ran,
    jobDir: jobDirs.at(-1) ?? "",
    jobDirs,
    budget: run.budget,
  };
}
