import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { nameOwnFiles } from "../../api/name-own-files.ts";
import { openRunWorld } from "../../api/open-run-world.ts";
import { type DryRun, planDryRun } from "../../api/plan-dry-run.ts";
import { probeBackend } from "../../api/probe-backend.ts";
import { type EndedRun, runBenchmark } from "../../api/run-benchmark.ts";
import { summarizeEndedRun } from "../../api/summarize-ended-run.ts";
import { BenchError, messageOf } from "../../core/errors.ts";
import type { RunSummary } from "../../core/model/run-summary.ts";
import { renderGate, renderMatrixLines } from "../../core/report/console/run-lines.ts";
import { renderRunSummary } from "../../core/results/summarize-run.ts";
import { codeOf } from "../../host/error-code.ts";
import type { CliContext, ExitCode } from "../context.ts";
import { readDotenv } from "../read-dotenv.ts";
import { readRunSettings } from "../read-run-settings.ts";
import { renderPlan } from "../render/plan-table.ts";
import { RunLog } from "../render/run-log.ts";
import type { RunOptions } from "../run-command.ts";
import { sameCommandOnLocal } from "../same-command.ts";
import type { Draft } from "../run-flag.ts";

/** `bench run`: the log on stderr, each repeat's final block on stdout as it ends. */
export async function runRun(
  context: CliContext,
  tasks: string | undefined,
  draft: Draft,
  options: RunOptions,
): Promise<ExitCode> {
  const settings = await nameOwnFiles(readRunSettings(context, tasks, draft, options), context.cwd);
  const log = new RunLog(context, { quiet: options.quiet === true, json: options.json === true });
  const dotenv = readDotenv(context);
  const world = openRunWorld(settings, {
    env: context.env,
    nextWithoutDocker: sameCommandOnLocal(context.args ?? []),
    dotenvKeys: dotenv.keys,
    onEvent: (event) => log.show(event),
    signal: context.signal,
  });
  for (const name of dotenv.ignored)
    log.show({ type: "warning", message: `${name} is not taken from .env: export it instead` });
  if (options.dryRun === true || options.explain === true) {
    const dry = await planDryRun(settings, world, (kind) => probeBackend(kind, context));
    return showPlan(context, dry, options);
  }
  try {
    const run = await runBenchmark(settings, world);
    log.end();
    const { writeReports } = await import("../../api/write-reports.ts");
    await writeReports(run);
    const summary = summarizeEndedRun(run);
    await finish(context, run, summary, options);
    if (run.refusal !== null) throw run.refusal;
    return exitCodeOf(run, summary);
  } finally {
    log.end();
  }
}

function showPlan(context: CliContext, dry: DryRun, options: RunOptions): ExitCode {
  const { plan, backends, money } = dry;
  context.out.write(
    options.json === true
      ? `${JSON.stringify({ ...plan, backends, money }, null, 2)}\n`
      : renderPlan(dry, { explain: options.explain === true }),
  );
  return plan.skipped.length > 0 ? 1 : 0;
}

async function finish(
  context: CliContext,
  run: EndedRun,
  summary: RunSummary,
  options: RunOptions,
): Promise<void> {
  if (options.json === true) context.out.write(renderRunSummary(summary));
  else if (run.matrixSummary !== null) {
    const jobs = run.jobs.map(({ tree }) => tree.trials);
    context.out.write(`${renderMatrixLines(jobs, run.matrixSummary).join("\n")}\n`);
  }
  for (const line of renderGate(summary.gate)) context.err.write(`${line}\n`);
  const { summaryOut } = run.plan.settings;
  if (summaryOut !== null) await writeSummary(resolve(context.cwd, summaryOut), summary);
}

/** A task that could not be read is no failure of the others, and no success either (design 11). */
function exitCodeOf(run: EndedRun, summary: RunSummary): ExitCode {
  return run.plan.skipped.length > 0 || summary.exit_code !== 0 ? 1 : 0;
}

/** Appears whole or not at all; what is no plain file, as `/dev/stdout` and links are, is written through. */
async function writeSummary(path: string, summary: RunSummary): Promise<void> {
  const text = renderRunSummary(summary);
  const part = `${path}.${String(process.pid)}.part`;
  try {
    await mkdir(dirname(path), { recursive: true });
    if (!(await isFileOrNothing(path))) {
      await writeFile(path, text);
      return;
    }
    await writeFile(part, text);
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true });
    throw new BenchError("unavailable", `--summary-out ${path}: ${messageOf(cause)}`, {
      next: "the results are whole; run the same command with another path to write the summary",
      cause,
    });
  }
}

async function isFileOrNothing(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw error;
  }
}
