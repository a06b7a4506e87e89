import { describe, expect, test } from "vitest";
import { type EndedRun, runBenchmark } from "../../api/run-benchmark.ts";
import { createLedger } from "../../core/ledger/create-ledger.ts";
import type { LedgerItem } from "../../core/model/ledger-update.ts";
import type { PotView } from "../../core/model/ledger-pot.ts";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import { readEvaluation } from "../../core/plan/read-earlier-jobs.ts";
import type { Deaths } from "../../core/ports/ledger.ts";
import { systemClock } from "../../host/system-clock.ts";
import { someSettings } from "../core/plan/plan-builders.ts";
import { MemoryLedgerStore } from "../fakes/memory-ledger.ts";
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

function damagePot(files: Map<string, Uint8Array>): void {
  const whole: unknown = JSON.parse(new TextDecoder().decode(files.get("evaluation.json")));
  const damaged = JSON.stringify(Object.assign({}, whole, { pot: "../another" }));
  files.set("evaluation.json", new TextEncoder().encode(damaged));
}

function messagesOf({ events }: Scene): string[] {
  return events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
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

  test.each([
    ["is lost", (files: Map<string, Uint8Array>) => files.delete("evaluation.json")],
    ["names no pot that can be", (files: Map<string, Uint8Array>) => damagePot(files)],
  ])("counts from 0 when evaluation.json %s, and says so", async (_, damage) => {
    const scene = await aScene({ plays });
    const [ended] = (await run(scene, { maxRollouts: 1 })).jobs;
    const job = scene.store.disk.jobs.get(ended?.jobDir ?? "");
    if (job === undefined) throw new Error("no job on the disk");
    expect(messagesOf(scene)).toEqual([]);
    damage(job.files);
    const { budget } = await run(scene, { maxRollouts: 1 });
    expect(budget?.spent.rollouts).toBe(1);
    expect(messagesOf(scene)).toEqual([
      `what job ${ended?.jobDir ?? ""} has spent is not known, its evaluation.json cannot be read: the cap counts from 0`,
    ]);
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

  test.each([
    { before: 1, after: 2 },
    { before: 2, after: 1 },
  ])(
    "is not paid again when --trials $before becomes $after: only --fresh does",
    async (trials) => {
      const ledgerItems = new Map<string, LedgerItem>();
      const scene = await aScene({ plays, ledgerItems });
      await run(scene, { maxRollouts: 1, trials: trials.before });
      const there = [...scene.store.disk.jobs.keys()];
      await expect(run(scene, { maxRollouts: 1, trials: trials.after })).rejects.toMatchObject({
        kind: "usage",
        message: expect.stringContaining(`run with \`--trials ${String(trials.before)}\``),
        next: expect.stringContaining("--fresh"),
      });
      expect([...scene.store.disk.jobs.keys()]).toEqual(there);
      expect(potNames(ledgerItems)).toHaveLength(1);
      // The same command still goes on, with its pot, and more of the same kind of repeats too.
      const more = trials.before === 1 ? 1 : 3;
      const { budget } = await run(scene, { maxRollouts: 2, trials: more });
      expect(budget?.spent.rollouts).toBe(2);
      expect(potNames(ledgerItems)).toHaveLength(1);
      await run(scene, { maxRollouts: 1, trials: trials.after, fresh: true });
      expect(potNames(ledgerItems)).toHaveLength(2);
    },
  );

  test("keeps no control that nobody counts from running with other repeats", async () => {
    const scene = await aScene({ plays });
    await run(scene, {});
    expect((await run(scene, { trials: 2 })).jobs).toHaveLength(2);
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
