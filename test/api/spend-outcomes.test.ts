import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { RunSpend } from "../../api/run-spend.ts";
import { planBenchmark, readPlanInput } from "../../api/plan-benchmark.ts";
import { runTrials } from "../../api/run-trials.ts";
import type { Reservation, TrialAccount } from "../../core/ledger/trial-account.ts";
import { BenchError } from "../../core/errors.ts";
import { ModelCalls } from "../../core/model/model-calls.ts";
import type { TrialRecord } from "../../core/model/record.ts";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import type { ModelAccess, ModelEnd, OpenModels } from "../../core/ports/model-access.ts";
import type { AgentEnd } from "../../core/outcome/trial-evidence.ts";
import { type Agent, NO_USAGE } from "../../runner/agents/agent.ts";
import { someSettings } from "../core/plan/plan-builders.ts";
import { packFile } from "../../runner/pack-file.ts";
import { aScene, type Scene } from "./run-scene.ts";

const CALLS = ModelCalls.parse({
  requests: 3,
  main_requests: 3,
  refused: 0,
  failed: 0,
  incomplete: 0,
  anomalies: 0,
  held_ms: 0,
  tokens: { input: 10, output: 2, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 },
  estimate: null,
  cost_micro_usd: 7,
  cost_status: "priced",
  price_sources: ["test"],
  served_models: ["m"],
});
const USAGE = { ...NO_USAGE, inputTokens: 10, outputTokens: 2, totalTokens: 12, costUsd: 0.000007 };

interface Wish {
  readonly end?: ModelEnd;
  readonly heldMs?: number;
  readonly calls?: Partial<ModelCalls>;
  readonly toolCalls?: number;
  readonly agentEnd?: AgentEnd;
  /** Thrown when the models are closed. */
  readonly closeError?: Error;
  readonly reserve?: () => Promise<Reservation>;
}

interface Told {
  readonly closed: { readonly complete: boolean; readonly unpriced: boolean }[];
  readonly events: string[];
}

function spendOf(wish: Wish, told: Told): RunSpend {
  const account: TrialAccount = {
    reserve: wish.reserve ?? (async () => ({ kind: "granted", call: "1", heldMs: 0 })),
    settle: async () => undefined,
    check: async () => null,
    giveBack: async () => undefined,
    close: async (ending) => {
      told.closed.push(ending);
      told.events.push("account closed");
      return account.spent;
    },
    spent: { microUsd: 0, tokens: 0, sandboxMs: 0, rollouts: 0 },
  };
  const open: OpenModels = {
    protocol: "openai-completions",
    origin: "http://127.0.0.1:1",
    token: "sk-benchflow-test",
    model: "m",
    contextTokens: null,
    maxOutputTokens: null,
    heldMs: () => wish.heldMs ?? 0,
    stopped: () => null,
    stop: () => undefined,
    close: async () => {
      told.events.push("models closed");
      if (wish.closeError !== undefined) throw wish.closeError;
      return {
        usage: USAGE,
        calls: { ...CALLS, ...wish.calls },
        end: wish.end ?? { kind: "sound" },
      };
    },
  };
  const models: ModelAccess = { open: async () => open };
  return {
    pot: "pot",
    admit: async () => ({ kind: "admitted", spend: { account, models } }),
    noteEnding: async () => undefined,
    budget: () => Promise.reject(new Error("nobody asks")),
    refusal: () => null,
    spent: async () => ({ microUsd: 0, tokens: 0 }),
    close: async () => undefined,
  };
}

/** Solves the task, then ends. */
function solver({ toolCalls = 1, agentEnd: end = { kind: "completed" } }: Wish): Agent {
  return {
    name: "script-models",
    runsAs: "agent-user",
    needsSolution: false,
    models: { protocols: ["openai-completions"], aliases: [] },
    mounts: [],
    run: async ({ sandbox, workdir }) => {
      await sandbox.put(packFile("answer", Buffer.from("1"), 0o644), workdir);
      return { agentName: "s", end, toolCalls, skillInvocations: 0, prompts: [], usage: NO_USAGE };
    },
  };
}

async function runOne(wish: Wish, over: Partial<RunSettingsInput> = {}) {
  const scene: Scene = await aScene({ plays: { task: {} } });
  const told: Told = { closed: [], events: [] };
  const settings = someSettings({
    tasksDir: scene.tasksDir,
    agent: "script-models",
    retryAttempts: 0,
    ...over,
  });
  const input = await readPlanInput(settings, scene.world);
  const plan = planBenchmark(input, { ...scene.backend.caps, uidSeparation: true });
  const [job] = plan.jobs;
  if (job === undefined) throw new Error("a plan without a job");
  const folder = await scene.store.openJob({ ...job, mode: "new", evaluation: "{}\n" });
  const deps = { ...scene.world, backend: scene.backend, spend: spendOf(wish, told) };
  const agent = solver(wish);
  const ended = runTrials({ plan, job, folder, agent, deps, notStarted: new Set() });
  const error: unknown = await ended.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  const records = scene.events.flatMap((event): TrialRecord[] =>
    event.type === "trial-ended" ? [event.record] : [],
  );
  return { scene, told, error, record: records[0], records };
}

describe("a trial whose models were sound", () => {
  test("is graded, with the proxy's usage in place of the agent's", async () => {
    const { record, told } = await runOne({});
    expect(record?.outcome).toEqual({ kind: "scored", reward: 1, passed: true, limit: null });
    expect(record?.usage).toEqual(USAGE);
    expect(told.closed).toEqual([{ complete: true, unpriced: false }]);
    expect(told.events).toEqual(["models closed", "account closed"]);
  });

  test("and reached its own cap is graded with that limit", async () => {
    const { record } = await runOne({ end: { kind: "trial-limit", message: "m" } });
    expect(record?.outcome).toEqual({ kind: "scored", reward: 1, passed: true, limit: "cost" });
  });

  const told = { category: "acp_error", message: "too long" } as const;
  const failed = { kind: "error", error: told, exitCode: null } as const;
  const stopped = { kind: "limit", limit: "wall-clock", error: null } as const;

  test.each([failed, stopped])("and refused it is graded and tagged: $kind", async (agentEnd) => {
    const error = { category: "provider_rejected", message: "HTTP 400" } as const;
    const { record } = await runOne({ agentEnd, end: { kind: "rejected", error } });
    expect(record?.outcome).toMatchObject({ kind: "scored", reward: 1 });
    expect(record?.error).toEqual(agentEnd.kind === "limit" ? null : error);
  });

  test("and asked nothing while its agent did nothing has no score", async () => {
    const { record } = await runOne({ calls: { main_requests: 0 }, toolCalls: 0 });
    expect(record?.outcome).toMatchObject({
      kind: "unscored",
      category: "suspected_api_error",
      fault: "setup",
    });
    expect(record?.rewards).toEqual({ reward: 1 });
  });

  test("and asked nothing while its agent only failed has no score, and says how it failed", async () => {
    const error = { category: "agent_integration", message: "refused session/new" } as const;
    const agentEnd = { kind: "error", error, exitCode: null } as const;
    const wish = { toolCalls: 0, agentEnd };
    const { record } = await runOne({ ...wish, calls: { main_requests: 0 } });
    const { category, message: detail } = error;
    expect(record?.outcome).toMatchObject({ kind: "unscored", category, detail });
    // One that asked its model is graded by what it left.
    const { record: asked } = await runOne(wish);
    expect(asked?.outcome.kind).toBe("scored");
  });

  test("and held its requests for longer than an agent may work is void, whatever its reward", async () => {
    const { record } = await runOne({ heldMs: 10_000_000 });
    expect(record?.outcome).toMatchObject({
      kind: "unscored",
      category: "infra_failure",
      fault: "infrastructure",
    });
    expect(record?.rewards).toEqual({ reward: 1 });
  });
});

const failed = (transient: boolean): ModelEnd => ({
  kind: "failed",
  error: {
    category: "api_error",
    message: "provider API error",
    ...(transient ? { transient } : {}),
  },
  info: null,
});

describe("a trial whose models failed", () => {
  test("is void whatever its reward, and the reward is kept as evidence", async () => {
    const { record, told } = await runOne({ end: failed(false) });
    expect(record?.outcome).toMatchObject({
      kind: "unscored",
      category: "api_error",
      verifyOnly: false,
    });
    expect(record?.rewards).toEqual({ reward: 1 });
    // Not what such a trial needs: others must not learn from it.
    expect(told.closed).toEqual([{ complete: false, unpriced: false }]);
  });

  test("in a passing way is tried again, in another way not", async () => {
    const lasting = await runOne({ end: failed(false) }, { retryAttempts: 2 });
    expect(lasting.records).toHaveLength(1);
    const passing = runOne({ end: failed(true) }, { retryAttempts: 1 });
    const outcome = await Promise.race([passing, waitsForRetry()]);
    expect(outcome).toBe("waits");
  });

  test("to be closed leaves no sandbox and no open account", async () => {
    const full = new BenchError("unavailable", "no space left", { next: "make room" });
    const { error, scene, told } = await runOne({ closeError: full });
    expect(error).toBe(full);
    expect(scene.backend.alive).toEqual([]);
    expect(told.events).toContain("account closed");
  });
});

describe("a trial that the pot refused", () => {
  test("is not verified and keeps its workspace, with or without --save-outputs", async () => {
    const { record } = await runOne({ end: { kind: "budget", message: "the pot is empty" } });
    expect(record?.outcome).toMatchObject({
      kind: "unscored",
      fault: "budget",
      category: "budget_stopped",
      detail: "the pot is empty",
    });
    expect(record?.rewards).toBeNull();
    expect(record?.workspaceSaved).toBe(true);
    expect(record?.spans.map(({ phase }) => phase)).not.toContain("verify");
  });

  test("the time for its sandbox starts none", async () => {
    const { record, scene } = await runOne({
      reserve: async () => ({
        kind: "refused",
        why: "no seconds left",
        by: "budget",
        unit: "sandboxMs",
        heldMs: 0,
      }),
    });
    expect(record?.outcome).toMatchObject({
      kind: "unscored",
      fault: "budget",
      detail: "no seconds left",
    });
    expect(
      scene.events.some((event) => event.type === "phase-started" && event.phase === "setup"),
    ).toBe(false);
  });
});

/** The fake clock stands still, so that a run that waits for its next attempt waits for ever. */
async function waitsForRetry(): Promise<string> {
  return await delay(1500, "waits");
}
