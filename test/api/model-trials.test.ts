import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openRunSpend } from "../../api/run-spend.ts";
import { planBenchmark, readPlanInput } from "../../api/plan-benchmark.ts";
import { resolveRunModels } from "../../api/run-models.ts";
import { runTrials } from "../../api/run-trials.ts";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { systemClock } from "../../host/system-clock.ts";
import { type Agent, NO_USAGE } from "../../runner/agents/agent.ts";
import { someSettings } from "../core/plan/plan-builders.ts";
import type { Fault } from "../fakes/model-server/model-script.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server/start-model-server.ts";
import { aScene, type Scene } from "./run-scene.ts";

/** Asks its model so often, whatever it says. */
const asking = (calls: number, onText: (text: string) => unknown = () => undefined): Agent => ({
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
      onText(await response.text());
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
    expect(budget?.reason).toMatch(/^usage above its reservation: /u);
    expect(budget?.anomalies).toHaveLength(1);
    expect(budget?.spent.tokens).toBe(400_040);
  });

  test("of a script are answered task by task, cost nothing, and meet its faults anew", async () => {
    const scene = await aScene({ plays: { a: {}, b: {} } });
    const modelScript = join(scene.tasksDir, "../script.json");
    const usage = { input: 300, cacheRead: 0, cacheWrite5m: 0, output: 7 };
    const only = (text: string) => [{ text, usage }];
    const fault = { kind: "status", status: 429, headers: { "retry-after": "0" }, times: 1 };
    const tasks = { a: only("of a"), b: only("of b") };
    await writeFile(modelScript, JSON.stringify({ version: 1, tasks, faults: [fault] }));
    const said: string[] = [];
    const asker = asking(2, (text) => said.push(text));
    const over = { model: "scripted/script.json", modelScript, maxTokens: 100_000, concurrency: 1 };
    const { server, outcomes, budget } = await runAsking(scene, { agent: asker, over });
    expect(server.modelRequests()).toEqual([]);
    expect(outcomes).toMatchObject([{ kind: "scored" }, { kind: "scored" }]);
    expect(said.map((text) => /of [ab]/u.exec(text)?.[0])).toEqual(["of a", "of a", "of b", "of b"]);
    expect(budget?.spent).toMatchObject({ tokens: 4 * 307, cost_usd: 0 });
    const ended = scene.events.flatMap((event) => (event.type === "trial-ended" ? [event] : []));
    for (const { record } of ended) {
      expect(record).toMatchObject({
        model: "scripted/script.json",
        usage: { totalTokens: 2 * 307, costUsd: 0, priceSource: "script" },
      });
    }
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

  test("whose sandbox is lost while its agent works are sealed, with what they used", async () => {
    const scene = await aScene({ plays: { a: {} } });
    const create = scene.backend.create.bind(scene.backend);
    scene.backend.create = async (request) => {
      const sandbox = await create(request);
      const forward = sandbox.forward.bind(sandbox);
      sandbox.forward = async (socketPath) => {
        const opened = await forward(socketPath);
        const close = async (): Promise<never> => {
          await opened.close();
          throw new SandboxError("backend-unavailable", "no daemon answers");
        };
        return { port: opened.port, close };
      };
      return sandbox;
    };
    const asker = asking(2);
    const agent: Agent = {
      ...asker,
      run: async (given) => {
        await asker.run(given);
        throw new SandboxError("lost", "the daemon is gone");
      },
    };
    const { outcomes, budget } = await runAsking(scene, { agent });
    expect(outcomes).toMatchObject([{ kind: "unscored", category: "infra_failure" }]);
    expect(budget?.spent.tokens).toBe(2080);
    const record = scene.events.find((event) => event.type === "trial-ended");
    expect(record).toMatchObject({ record: { usage: { totalTokens: 2080 } } });
    expect(scene.events).toContainEqual({
      type: "warning",
      message: expect.stringContaining("its way to the models stays: no daemon answers"),
    });
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
