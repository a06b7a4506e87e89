import type { BenchError } from "../core/errors.ts";
import type { BudgetSummary } from "../core/model/ledger-budget.ts";
import type { JobPlan, RunPlan } from "../core/model/plan.ts";
import type { RunSettings } from "../core/model/settings.ts";
import { renderMixedImages } from "../core/report/console/run-lines.ts";
import { mixedImages } from "../core/results/mixed-images.ts";
import type { Agent, InstalledAgent } from "../runner/agents/agent.ts";
import { withAgentSecrets } from "./agent-facts.ts";
import { chooseRunAgent } from "./choose-run-agent.ts";
import { interruptedRun } from "./interrupted-run.ts";
import { loadRunModels } from "./load-run-models.ts";
import { type OpenedJob, openRepeat } from "./open-repeat.ts";
import { planBenchmark, readPlanInput } from "./plan-benchmark.ts";
import { removeOrphans } from "./remove-orphans.ts";
import type { RunDeps, RunWorld } from "./run-deps.ts";
import { type EndedJob, runJob } from "./run-job.ts";
import type { RunModels } from "./run-models.ts";
import { type StartedRun, startRun } from "./start-run.ts";
import { writeMatrixSummary } from "./write-matrix-summary.ts";

/** A run that ended by itself: every repeat was carried out, whatever its trials' outcomes. */
export interface EndedRun {
  readonly plan: RunPlan;
  readonly jobs: readonly EndedJob[];
  /** Path of matrix-summary.json; null for a run without repeats. */
  readonly matrixSummary: string | null;
  /** Of the command's pot over all its repeats; null where nobody counts. */
  readonly budget: BudgetSummary | null;
  /** What ended it before its time (`config`), such as a refused key; every file is whole. Else null. */
  readonly refusal: BenchError | null;
}

/**
 * Plans a run and carries it out, one repeat after another. Tasks and earlier jobs are read first, so
 * that bad input is answered at once and before any sandbox is looked for. Throws `BenchError`: `usage`
 * or `config` before anything is created; `interrupted` when `world.signal` was aborted, with every
 * sandbox gone and every summary written; `unavailable` when the store or the backend fails.
 */
export async function runBenchmark(settings: RunSettings, world: RunWorld): Promise<EndedRun> {
  const agent = await chooseRunAgent(settings);
  const models = withAgentSecrets(await loadRunModels(settings, agent, world), settings);
  // A login that has ended is told before anything is made.
  await models?.login?.ready();
  const input = await readPlanInput(settings, world, { models, agent });
  planBenchmark(input, null);
  await world.store.checkWritable(settings.jobsDir);
  const backend = await world.openBackend();
  try {
    const plan = planBenchmark(input, backend.caps);
    world.onEvent({ type: "run-planned", plan });
    if (models !== null) tellRoute(models, world);
    await clearOrphans({ ...world, backend });
    const installed = await installAgent(agent, backend.caps.platform, world);
    try {
      const search = { plan, score: input.request.score };
      const started = await startRun(search, models, { ...world, backend });
      try {
        return await runRepeats(started, installed.agent);
      } finally {
        await started.deps.spend?.close();
      }
    } finally {
      await installed.release();
    }
  } finally {
    await backend.close();
  }
}

/** Before any sandbox, so that no trial waits for it and nothing is fetched within one. */
async function installAgent(
  agent: Agent,
  platform: string,
  { agentTrees: trees, signal, onEvent }: RunWorld,
): Promise<InstalledAgent> {
  if (agent.install === undefined) return { agent, release: () => Promise.resolve() };
  const onInstall = (name: string): void => onEvent({ type: "agent-installing", name });
  return await agent.install({ trees, platform, signal, onInstall });
}

/** Attack 3: which host gets the key is told before anything goes there. */
function tellRoute(models: RunModels, { onEvent }: RunWorld): void {
  const { resolved, endpoints, script, login } = models;
  if (script !== null) return;
  const urls = endpoints.map(({ baseUrl }) => baseUrl);
  if (login !== null) urls.push(login.service.refreshUrl);
  const hosts = [...new Set(urls.map((url) => new URL(url).host))];
  const [{ agentProtocol: from, protocol: to }] = endpoints;
  const translation = from === to ? null : { from, to };
  onEvent({ type: "key-route", keyName: resolved.keyName, hosts, translation });
}

async function runRepeats(started: StartedRun, agent: Agent): Promise<EndedRun> {
  const { search, deps } = started;
  const { plan } = search;
  const jobs: EndedJob[] = [];
  let matrixSummary: string | null = null;
  for (const job of plan.jobs) {
    const isFirst = jobs.length === 0;
    // The first job is open already, and is closed by being run.
    const isOver = deps.signal.aborted || (deps.spend?.refusal() ?? null) !== null;
    if (isOver && !isFirst) break;
    const opened = isFirst ? started.first : await openUnlessStopped(job, started);
    if (opened === null) break;
    jobs.push(await runJob(plan, opened, agent, deps));
    if (plan.settings.trials > 1) matrixSummary = await writeMatrixSummary(plan, jobs, deps);
  }
  warnOfMixedImages(jobs, deps);
  if (deps.signal.aborted) throw interruptedRun(plan, jobs);
  const refusal = deps.spend?.refusal() ?? null;
  return { plan, jobs, matrixSummary, budget: await wholeBudget(jobs, deps), refusal };
}

/** Null when the run was stopped while another command with these settings was starting. */
async function openUnlessStopped(
  job: JobPlan,
  { search, deps }: StartedRun,
): Promise<OpenedJob | null> {
  try {
    return await openRepeat(job, search, deps);
  } catch (error) {
    if (deps.signal.aborted) return null;
    throw error;
  }
}

/** The pot's figures with the names of all repeats; a task that several name stands there as often. */
async function wholeBudget(
  jobs: readonly EndedJob[],
  { spend }: RunDeps,
): Promise<BudgetSummary | null> {
  if (spend === null) return null;
  const budgets = jobs.flatMap(({ tree }) => tree.budget ?? []);
  return await spend.budget({
    cancelled: budgets.flatMap(({ cancelled }) => cancelled),
    notStarted: budgets.flatMap(({ not_started: names }) => names),
  });
}

/** What a killed run left here goes before new sandboxes are made. */
async function clearOrphans({
  backend,
  clock,
  onEvent,
}: Pick<RunDeps, "backend" | "clock" | "onEvent">): Promise<void> {
  for (const { id, owner } of await removeOrphans(backend, clock)) {
    const whose = owner === null ? "" : ` of ${owner.rolloutName}`;
    const message = `removed sandbox ${id}${whose}, which a dead run left behind`;
    onEvent({ type: "warning", message });
  }
}

/** Scores on images that differ are kept, since a scored trial is never drawn again, and flagged. */
function warnOfMixedImages(jobs: readonly EndedJob[], { onEvent }: RunDeps): void {
  const mixed = mixedImages(jobs.map(({ tree }) => tree.trials));
  for (const message of renderMixedImages(mixed)) onEvent({ type: "warning", message });
}
