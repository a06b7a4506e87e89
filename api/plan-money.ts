import { hasCaps, parseCaps, parseTrialCap } from "../core/ledger/caps.ts";
import { forecastMoney, type MoneyQuestion } from "../core/ledger/forecast-money.ts";
import type { RunPlan } from "../core/model/plan.ts";
import type { RunMoney } from "../core/model/run-money.ts";
import { checkKept, lostLedger } from "./check-kept.ts";
import { leastSpend } from "./least-spend.ts";
import { earlierPot } from "./pot-name.ts";
import type { PlanDeps } from "./run-deps.ts";
import type { RunModels } from "./run-models.ts";

/**
 * What a planned run would spend from and at which prices; null for one that spends nothing anybody
 * counts. Reads the pot and leaves no trace. Throws `BenchError` (`config`) where the run itself would: the
 * pot's ledger is gone; and `unavailable` for one that cannot be read.
 */
export async function planMoney(
  plan: RunPlan,
  models: RunModels | null,
  deps: Pick<PlanDeps, "store" | "clock" | "readLedger">,
): Promise<RunMoney | null> {
  const { settings } = plan;
  if (models === null && !hasCaps(settings)) return null;
  const { named, uncounted } = await earlierPot(plan, deps.store);
  return forecastMoney({
    caps: parseCaps(settings),
    trialCap: parseTrialCap(settings.maxCostPerTrialUsd),
    pot: named === null ? null : await lookAt(named, deps),
    uncountedJob: uncounted,
    model: models === null ? null : modelOf(settings, models, deps.clock.now()),
    least: leastSpend(settings, models, deps.clock.now()),
  });
}

async function lookAt(
  { pot: name, ofJob }: { readonly pot: string; readonly ofJob: string },
  { readLedger }: Pick<PlanDeps, "readLedger">,
): Promise<NonNullable<MoneyQuestion["pot"]>> {
  const ledger = await readLedger(name);
  if (ledger === null) throw lostLedger(ofJob);
  return { name, ofJob, view: await checkKept(ledger, ofJob) };
}

function modelOf(
  { model: name }: RunPlan["settings"],
  { resolved, prices }: RunModels,
  at: Date,
): MoneyQuestion["model"] {
  if (name === null) throw new Error("a run with models names none");
  const { provider, model } = resolved;
  return { name, card: prices.find({ provider, model, at }) };
}
