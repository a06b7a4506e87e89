import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { BudgetSummary } from "../../core/model/ledger-budget.ts";
import { startModelServer } from "../fakes/model-server/start-model-server.ts";
import { TURN, providerEnv, runModelBench, writeModelTask, writePrices } from "./model-run.ts";
import { scratchDir } from "./run-bench.ts";

async function budgetIn(path: string): Promise<BudgetSummary> {
  const text = await readFile(join(path, "jobs/summary.json"), "utf8");
  return z.looseObject({ budget: BudgetSummary }).parse(JSON.parse(text)).budget;
}

test("a trial whose verifier alone is to run again needs no dollar for it", async () => {
  await using scratch = await scratchDir();
  const { path } = scratch;
  await writeModelTask(join(path, "tasks/one"), { calls: 2 });
  await writePrices(join(path, "prices.json"));
  await writeFile(join(path, "tasks/one/tests/test.sh"), "#!/bin/bash\nexit 3\n");
  const server = await startModelServer({ turns: [TURN] });
  try {
    const options = { cwd: path, env: providerEnv(server) };
    const save = "--save-outputs";
    await runModelBench({ ...options, args: ["--max-cost-usd", "1", save] });
    await runModelBench({ ...options, args: ["--max-cost-usd", "0", save] });
    expect(await budgetIn(path)).toMatchObject({ not_started: [], spent: { rollouts: 2 } });
    expect(server.modelRequests()).toHaveLength(2);
    // A cap that does keep it from starting is told.
    const full = await runModelBench({ ...options, args: ["--max-rollouts", "2", save] });
    expect(full.stdout).toContain("0 running trial(s) cancelled, 1 not started");
    expect(await budgetIn(path)).toMatchObject({ stopped: true, not_started: ["one"] });
  } finally {
    await server.close();
  }
});
