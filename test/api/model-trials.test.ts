import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LedgerItem } from "../../core/model/ledger-update.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import type { Agent } from "../../runner/agents/agent.ts";
import { asking, runAsking } from "./run-asking.ts";
import { aScene } from "./run-scene.ts";

describe("trials with a model", () => {
  test.each([
    { status: 403, category: "provider_auth" },
    { status: 402, category: "api_error" },
  ])(
    "C-18: that a provider refuses five times ($status) keep others from starting",
    async (refusal) => {
      const { status, category } = refusal;
      const plays = { a: {}, b: {}, c: {}, d: {}, e: {}, f: {}, g: {} };
      const ledgerItems = new Map<string, LedgerItem>();
      const scene = await aScene({ plays, ledgerItems });
      const fault = {
        kind: "status",
        on: "any",
        status,
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
        ...Array<string>(5).fill(category),
        "circuit_open",
        "circuit_open",
      ]);
      expect(server.modelRequests()).toHaveLength(5);
      expect(budget?.spent).toMatchObject({ rollouts: 5, tokens: 0 });
      // Other processes of the command are stopped by the pot.
      const head = [...ledgerItems].find(([key]) => key.endsWith("/head"))?.[1];
      expect(head).toMatchObject({ stop: { kind: "breaker" } });
    },
  );

  test("whose provider says that more was used than can be end the run's spending", async () => {
    const scene = await aScene({ plays: { a: {}, b: {}, c: {} } });
    const usage = { prompt_tokens: 400_000, completion_tokens: 40, total_tokens: 400_040 };
    const { outcomes, budget } = await runAsking(scene, {
      faults: [{ kind: "wrong-usage", usage, on: "any", after: 0, times: null }],
      over: { concurrency: 1, maxTokens: 1_000_000 },
    });
    expect(outcomes).toMatchObject([
      { kind: "unscored", fault: "budget", category: "usage_anomaly" },
    ]);
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
    expect(said.map((text) => /of [ab]/u.exec(text)?.[0])).toEqual([
      "of a",
      "of a",
      "of b",
      "of b",
    ]);
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
