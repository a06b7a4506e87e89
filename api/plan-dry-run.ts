import { type BackendReach, backendReach } from "../core/plan/backend-reach.ts";
import type { RunPlan } from "../core/model/plan.ts";
import type { RunMoney } from "../core/model/run-money.ts";
import type { RunSettings } from "../core/model/settings.ts";
import { refusalFactsOf } from "../core/plan/plan-run.ts";
import { FARGATE_CAPS } from "../sandboxes/fargate/fargate-caps.ts";
import { BUILT_BACKENDS, builtBackend, type BuiltBackend } from "./backends.ts";
import { chooseRunAgent } from "./choose-run-agent.ts";
import { loadRunModels } from "./load-run-models.ts";
import { planBenchmark, readPlanInput } from "./plan-benchmark.ts";
import { planMoney } from "./plan-money.ts";
import type { BackendProbe } from "./probe-backend.ts";
import type { PlanDeps } from "./run-deps.ts";

/** What a command would do, and what each backend could (attack 25). */
export interface DryRun {
  readonly plan: RunPlan;
  /** Of the tasks that could be read and were selected. */
  readonly backends: readonly BackendReach[];
  /** Null for a run that spends nothing anybody counts. */
  readonly money: RunMoney | null;
}

/**
 * Plans a run and creates nothing. A backend that gives no answer makes no error of a dry run: the
 * plan is then what the tasks alone allow, and a warning says what is not known. Throws `BenchError`
 * (`usage`, `config`) for whatever would stop the run itself.
 */
export async function planDryRun(
  settings: RunSettings,
  deps: PlanDeps,
  probe: (kind: BuiltBackend) => Promise<BackendProbe>,
): Promise<DryRun> {
  const isCloud = settings.environment === "fargate";
  const own = isCloud ? null : builtBackend(settings.environment);
  const agent = await chooseRunAgent(settings);
  const models = await loadRunModels(settings, agent, deps);
  const input = await readPlanInput(settings, deps, { models, agent });
  const probes = await Promise.all(
    BUILT_BACKENDS.map(async (kind) => ({ kind, found: await probe(kind) })),
  );
  const backends = probes.map(({ kind, found }) => {
    const caps = found.kind === "works" ? found.caps : null;
    const missing = found.kind === "works" ? null : found.detail;
    const facts = refusalFactsOf({ ...settings, environment: kind }, caps);
    return backendReach(input.request.tasks, { ...facts, missing });
  });
  const mine = probes.find(({ kind }) => kind === own)?.found;
  // What Fargate holds is known without asking any account.
  const here = mine?.kind === "works" ? mine.caps : null;
  const plan = planBenchmark(input, isCloud ? FARGATE_CAPS : here);
  const unknown =
    mine?.kind === "missing"
      ? [
          `--env ${own} cannot be had here (${mine.detail}): what it lacks for these tasks is not known`,
        ]
      : [];
  const money = await planMoney(plan, models, deps);
  return { plan: { ...plan, warnings: [...unknown, ...plan.warnings] }, backends, money };
}
