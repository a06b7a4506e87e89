import { afterEach, describe, expect, test } from "vitest";
import { openRunSpend } from "../../api/run-spend.ts";
import { planBenchmark, readPlanInput } from "../../api/plan-benchmark.ts";
import { type EndedRun, runBenchmark } from "../../api/run-benchmark.ts";
import { resolveRunModels } from "../../api/run-models.ts";
import { runTrials } from "../../api/run-trials.ts";
import { createLedger } from "../../core/ledger/create-ledger.ts";
import type { LedgerItem } from "../../core/model/ledger-update.ts";
import type { PotView } from "../../core/model/ledger-pot.ts";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import { readEvaluation } from "../../core/plan/read-earlier-jobs.ts";
import type { Deaths } from "../../core/ports/ledger.ts";
import { systemClock } from "../../host/system-clock.ts";
import { type Agent, NO_USAGE } from "../../runner/agents/agent.ts";
import { someSettings } from "../core/plan/plan-builders.ts";
import { MemoryLedgerStore } from "../fakes/memory-ledger.ts";
import type { Fault } from "../fakes/model-server/model-script.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server/start-model-server.ts";
import { hang } from "../fakes/trial-programs.ts";
import { aScene, type Scene, until } from "./run-scene.ts";

const DEAD: Deaths = { stateOf: async () => "dead" };

async function run(scene: Scene, over: Partial<RunSettingsInput>): Promise<EndedRun> {
  const settings = someSettings({ tasksDir: scene.tasksDir, retryAttempts: 0, ...over });
  // A trial that waits for the pot waits in real time.
  return await runBenchmark(settings, { ...scene.world, clock: systemClock });
}

function potNames(items: ReadonlyMap<string, LedgerItem>): string[] {
  return [...items.keys()].filter((key) => key.endsWith("/head")).map((key) => key.slice(0, -5));
}

async function viewOf(items: Map<string, LedgerItem>): Promise<PotView> {
  const [pot = ""] = potNames(items);
  return await createLedger({ store: new MemoryLedgerStore(items), pot, deaths: DEAD }).view();
}

describe("a run that spends nothing anybody counts", () => {
  test("opens no pot, and its files say nothing of one", async () => {
    const ledgerItems = new Map<string, LedgerItem>();
    const scene = await aScene({ plays: { alpha: {} }, ledgerItems });
    const { budget, jobs } = await run(scene, {});
    expect(budget).toBeNull();
    expect(jobs[0]?.tree.budget).toBeNull();
    expect(ledgerItems.size).toBe(0);
  });
});

describe("a cap on what controls use", () => {
  const plays = { alpha: {}, beta: {}, gamma: {} };

  test("starts so many, in plan order, and tells who did not start", async () => {
    const ledgerItems = new Map<string, LedgerItem>();
    const scene = await aScene({ plays, ledgerItems });
    const ended = await run(scene, { maxRollouts: 2, concurrency: 3 });
    expect(ended.budget).toMatchObject({
      stopped: true,
      reason: "budget reached: 2 rollouts spent of a 2 cap",
      not_started: ["gamma"],
      cancelled: [],
      spent: { rollouts: 2 },
      held: { rollouts: 0 },
    });
    expect(ended.jobs[0]?.tree.trials.trials.map(({ taskName }) => taskName)).toEqual([
      "alpha",
      "beta",
    ]);
    // A trial that did not start has no folder, so that no reader takes it for a failure.
    expect(ended.jobs[0]?.tree.trials.neverStarted).toEqual(["gamma"]);
  });

  test("raised, lets the same command go on with the same pot", async () => {
    const ledgerItems = new Map<string, LedgerItem>();
    const first = await aScene({ plays, ledgerItems });
    const [job] = (await run(first, { maxRollouts: 2 })).jobs;
    const again: Scene = { ...first };
    const second = await run(again, { maxRollouts: 3 });
    expect(potNames(ledgerItems)).toHaveLength(1);
    const ref = { jobsDir: "jobs", jobName: job?.job.jobName ?? "" };
    const evaluation = await readEvaluation(first.store, ref);
    expect(evaluation?.pot).toBe(potNames(ledgerItems)[0]);
    expect(second.budget).toMatchObject({
      stopped: false,
      spent: { rollouts: 3 },
      not_started: [],
    });
    expect(second.jobs[0]?.tree.trials.neverStarted).toEqual([]);
  });

  test("that is left out later still goes on with it, and counts on", async () => {
    const ledgerItems = new Map<string, LedgerItem>();
    const scene = await aScene({ plays, ledgerItems });
    await run(scene, { maxRollouts: 1 });
    const second = await run(scene, { maxTokens: 5 });
    expect(potNames(ledgerItems)).toHaveLength(1);
    expect(second.budget).toMatchObject({ spent: { rollouts: 3 }, caps: { max_rollouts: null } });
  });

  test("is not counted from 0 again when the ledger is lost: only --fresh starts over", async () => {
    const ledgerItems = new Map<string, LedgerItem>();
    const scene = await aScene({ plays, ledgerItems });
    await run(scene, { maxRollouts: 1 });
    ledgerItems.clear();
    await expect(run(scene, { maxRollouts: 1 })).rejects.toMatchObject({
      kind: "config",
      message: expect.stringMatching(
        /^what job jobs\/.* has spent is not known: its ledger is gone$/u,
      ),
    });
    const { budget } = await run(scene, { maxRollouts: 1, fresh: true });
    expect(budget?.spent.rollouts).toBe(1);
  });

  test("gives every repeat the same pot, and a new job of its own with --fresh another", async () => {
    const ledgerItems = new Map<string, LedgerItem>();
    const scene = await aScene({ plays: { alpha: {} }, ledgerItems });
    const ended = await run(scene, { maxRollouts: 2, trials: 3 });
    expect(potNames(ledgerItems)).toHaveLength(1);
    expect(ended.jobs.map(({ tree }) => tree.budget?.not_started)).toEqual([[], [], ["alpha"]]);
    expect(ended.budget).toMatchObject({ not_started: ["alpha"], spent: { rollouts: 2 } });
    await run(scene, { maxRollouts: 2, fresh: true });
    expect(potNames(ledgerItems)).toHaveLength(2);
  });

  test("holds nothing after an interruption", async () => {
    const ledgerItems = new Map<string, LedgerItem>();
    const scene = await aScene({ plays: { alpha: { solve: hang } }, ledgerItems });
    const running = run(scene, { maxRollouts: 5, maxSandboxSeconds: 10_000 });
    await until(() => scene.backend.alive.length > 0);
    scene.stop();
    await expect(running).rejects.toThrow("stopped; 0 of 1 trials have a score");
    const { shards } = await viewOf(ledgerItems);
    expect(shards.flatMap(({ leases }) => Object.keys(leases))).toEqual([]);
    expect(shards[0]?.settled.rollouts).toBe(1);
  });
});

/** Asks its model so often, whatever it says. */
const asking = (calls: number): Agent => ({
  name: "script-models",
  runsAs: "agent-user",
  needsSolution: false,
  models: { protocols: ["openai-completions"], aliases: [] },
  mounts: [],
  run: async ({ models }) => {
    if (models === null) throw new Error("no models");
    for (let call = 0; call < calls; call += 1) {
      const response = await fetch(`${models.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${models.token}` },
        body: JSON.stringify({
          model: models.model,
          max_tokens: 50,
          messages: [{ role: "user", content: "x".repeat(3000) }],
          tools: [{ type: "function", function: { name: "bash", parameters: { type: "object" } } }],
        }),
      });
      await response.text();
    }
    const end = { kind: "completed" } as const;
    return {
      agentName: "asker",
      end,
      toolCalls: 1,
      skillInvocations: 0,
      prompts: [],
      usage: NO_USAGE,
    };
  },
});

describe("trials with a model", () => {
  const servers: ModelServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  async function runAsking(
    scene: Scene,
    wish: {
      readonly faults?: Fault[];
      readonly over?: Partial<RunSettingsInput>;
      readonly calls?: number;
      readonly agent?: Agent;
    },
  ) {
    const server = await startModelServer({ turns: [{ text: "hi" }], faults: wish.faults ?? [] });
    servers.push(server);
    const world = {
      ...scene.world,
      clock: systemClock,
      modelVariables: {
        XIAOMI_API_KEY: "sk-secret-0123456789",
        XIAOMI_BASE_URL: `${server.origin}/v1`,
      },
    };
    const over = { agent: "script-models", model: "xiaomi/scripted-model", retryAttempts: 0 };
    const settings = someSettings({ tasksDir: scene.tasksDir, ...over, ...wish.over });
    const agent = wish.agent ?? asking(wish.calls ?? 1);
    const models = await resolveRunModels(settings, agent, world);
    const input = await readPlanInput(settings, world, { models, agent });
    const plan = planBenchmark(input, { ...scene.backend.caps, uidSeparation: true });
    const [job] = plan.jobs;
    if (job === undefined) throw new Error("a plan without a job");
    const folder = await scene.store.openJob({ ...job, mode: "new", evaluation: "{}\n" });
    const spend = await openRunSpend({ plan, models, world });
    const deps = { ...world, backend: scene.backend, spend };
    await runTrials({ plan, job, folder, agent, deps, notStarted: new Set() });
    const budget = await spend?.budget({ cancelled: [], notStarted: [] });
    const outcomes = scene.events.flatMap((event) =>
      event.type === "trial-ended" && event.retryInMs === null ? [event.record.outcome] : [],
    );
    return { server, budget, outcomes };
  }

  test("that a provider refuses five times in a row stop the others before they start", async () => {
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    const scene = await aScene({ plays: Object.fromEntries(names.map((name) => [name, {}])) });
    const fault = {
      kind: "status",
      on: "any",
      status: 401,
      headers: {},
      after: 0,
      times: null,
    } as const;
    const { server, outcomes, budget } = await runAsking(scene, {
      faults: [fault],
      over: { concurrency: 1 },
    });
    const categories = outcomes.map((each) =>
      each.kind === "unscored" ? each.category : "scored",
    );
    expect(categories).toEqual([
      ...Array<string>(5).fill("provider_auth"),
      "circuit_open",
      "circuit_open",
    ]);
    expect(server.modelRequests()).toHaveLength(5);
    expect(budget?.spent).toMatchObject({ rollouts: 5, tokens: 0 });
  });

  test("whose provider says that more was used than can be end the run's spending", async () => {
    const scene = await aScene({ plays: { a: {}, b: {}, c: {} } });
    const usage = { prompt_tokens: 400_000, completion_tokens: 40, total_tokens: 400_040 };
    const { outcomes, budget } = await runAsking(scene, {
      faults: [{ kind: "wrong-usage", usage, on: "any", after: 0, times: null }],
      over: { concurrency: 1, maxTokens: 1_000_000 },
    });
    expect(outcomes).toMatchObject([{ kind: "unscored", fault: "budget" }]);
    expect(budget?.reason).toMatch(/^budget stopped: /u);
    expect(budget?.anomalies).toHaveLength(1);
    expect(budget?.spent.tokens).toBe(400_040);
  });

  test("whose agent asks nothing and does nothing have no score", async () => {
    const scene = await aScene({ plays: { a: {} } });
    const quiet = asking(0);
    const agent: Agent = {
      ...quiet,
      run: async (given) => ({ ...(await quiet.run(given)), toolCalls: 0 }),
    };
    const { outcomes, budget } = await runAsking(scene, { agent });
    expect(outcomes).toMatchObject([{ kind: "unscored", category: "suspected_api_error" }]);
    expect(budget?.spent.tokens).toBe(0);
  });

  test("whose agent worked without asking its model are graded", async () => {
    const scene = await aScene({ plays: { a: {} } });
    const { outcomes } = await runAsking(scene, { calls: 0 });
    expect(outcomes).toMatchObject([{ kind: "scored" }]);
  });

  test("count tokens where no price is known, and say that the dollars are unknown", async () => {
    const scene = await aScene({ plays: { a: {} } });
    const { outcomes, budget } = await runAsking(scene, { calls: 2 });
    expect(outcomes).toMatchObject([{ kind: "scored" }]);
    expect(budget?.spent).toMatchObject({ tokens: 2080, cost_usd: 0, usd_unknown_trials: 1 });
    const record = scene.events.find((event) => event.type === "trial-ended");
    expect(record).toMatchObject({ record: { usage: { totalTokens: 2080, costUsd: null } } });
  });
});
