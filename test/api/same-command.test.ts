import { beforeAll, expect, test } from "vitest";
import { type EndedRun, runBenchmark } from "../../api/run-benchmark.ts";
import { BenchError } from "../../core/errors.ts";
import type { LedgerItem } from "../../core/model/ledger-update.ts";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import { readEvaluation } from "../../core/plan/read-earlier-jobs.ts";
import { systemClock } from "../../host/system-clock.ts";
import { someSettings } from "../core/plan/plan-builders.ts";
import { MemoryJobStore } from "../fakes/memory-store.ts";
import { hang, type TaskPlay } from "../fakes/trial-programs.ts";
import { aScene, type Scene, until } from "./run-scene.ts";

// Loaded on first use, which must not fall into the time of a test.
beforeAll(async () => void (await import("../../api/run-spend.ts")), 60_000);

const PLAYS = { alpha: {}, beta: {}, gamma: {} };

/** Several commands, each in a process of its own, on one jobs folder with one ledger. */
async function rivals(count: number, plays: Parameters<typeof aScene>[0]["plays"] = PLAYS) {
  const ledgerItems = new Map<string, LedgerItem>();
  const first = await aScene({ plays, ledgerItems });
  const others = Array.from({ length: count - 1 }, async () => {
    const scene = await aScene({
      plays,
      ledgerItems,
      store: new MemoryJobStore(first.store.disk),
    });
    return { ...scene, tasksDir: first.tasksDir };
  });
  return { scenes: [first, ...(await Promise.all(others))], ledgerItems, disk: first.store.disk };
}

async function run(scene: Scene, over: Partial<RunSettingsInput>): Promise<EndedRun> {
  const settings = someSettings({ tasksDir: scene.tasksDir, retryAttempts: 0, ...over });
  // A trial that waits for the pot waits in real time.
  return await runBenchmark(settings, { ...scene.world, clock: systemClock });
}

const potsIn = (items: ReadonlyMap<string, LedgerItem>): string[] =>
  [...items.keys()].filter((key) => key.endsWith("/head"));

/** A command that has planned, and finds its sandboxes only when `ended` has. */
function afterwards(scene: Scene, ended: Promise<unknown>): Scene {
  const openBackend: Scene["world"]["openBackend"] = async () => {
    await ended;
    return scene.backend;
  };
  return { ...scene, world: { ...scene.world, openBackend } };
}

test("the same command started thrice at once makes one job and one pot, and keeps the cap", async () => {
  const { scenes, ledgerItems, disk } = await rivals(3);
  const ended = await Promise.allSettled(
    scenes.map(async (scene) => await run(scene, { maxRollouts: 2, concurrency: 1 })),
  );
  expect(disk.jobs.size).toBe(1);
  expect(potsIn(ledgerItems)).toHaveLength(1);
  expect([...disk.jobs.values()][0]?.attempts.size).toBe(2);
  const refusals = ended.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
  for (const refusal of refusals) {
    expect(refusal).toBeInstanceOf(BenchError);
    expect(refusal).toMatchObject({
      kind: "usage",
      message: expect.stringMatching(/^job jobs\/.* is already running in another process$/u),
    });
  }
  expect(refusals.length).toBeLessThan(3);
});

test("a command that starts while the same one works is refused, and opens no pot", async () => {
  const { scenes, ledgerItems } = await rivals(2, { alpha: { solve: hang } });
  const [first, second] = scenes;
  if (first === undefined || second === undefined) throw new Error("two scenes");
  const working = run(first, { maxRollouts: 2 });
  working.catch(() => undefined);
  await until(() => first.backend.alive.length > 0);
  await expect(run(second, { maxRollouts: 2 })).rejects.toMatchObject({ kind: "usage" });
  expect(potsIn(ledgerItems)).toHaveLength(1);
  first.stop();
  await expect(working).rejects.toMatchObject({ kind: "interrupted" });
});

test("a repeat that another command has made since the plan is gone on with, not made twice", async () => {
  const { scenes, disk, ledgerItems } = await rivals(2);
  const [first, second] = scenes;
  if (first === undefined || second === undefined) throw new Error("two scenes");
  const three = { trials: 3, maxRollouts: 9, concurrency: 1 };
  await run(first, { ...three, trials: 2 });
  // Both plan a third repeat; the second command finds its sandboxes when the first one has ended.
  const ended = run(first, three);
  const later = await run(afterwards(second, ended), three);
  expect(later.jobs.map(({ reused, ran }) => [reused, ran])).toEqual([
    [3, 0],
    [3, 0],
    [3, 0],
  ]);
  expect([...disk.jobs.values()].map((job) => job.attempts.size)).toEqual([3, 3, 3]);
  expect(later.budget?.spent.rollouts).toBe(9);
  expect(potsIn(ledgerItems)).toHaveLength(1);
});

test("commands with other settings do not wait for each other's start", async () => {
  const { scenes, disk } = await rivals(2);
  const [first, second] = scenes;
  if (first === undefined || second === undefined) throw new Error("two scenes");
  let open = 0;
  let most = 0;
  const held = (scene: Scene): Scene => {
    const openLedger: Scene["world"]["openLedger"] = async (pot) => {
      most = Math.max(most, (open += 1));
      await until(() => most === 2);
      return await scene.world.openLedger(pot);
    };
    return { ...scene, world: { ...scene.world, openLedger } };
  };
  await Promise.all([
    run(held(first), { maxRollouts: 9 }),
    run(held(second), { maxRollouts: 9, timeoutMultiplier: 2 }),
  ]);
  expect(disk.jobs.size).toBe(2);
});

test("a job that ended while another command started is gone on with, in its own pot", async () => {
  const { scenes, disk, ledgerItems } = await rivals(2);
  const [first, second] = scenes;
  if (first === undefined || second === undefined) throw new Error("two scenes");
  const ended = run(first, { maxRollouts: 2, concurrency: 1 });
  const later = await run(afterwards(second, ended), { maxRollouts: 2, concurrency: 1 });
  expect(later.jobs[0]).toMatchObject({ reused: 2, ran: 0 });
  expect(disk.jobs.size).toBe(1);
  const [job] = disk.jobs.values();
  const pot = (await readEvaluation(first.store, { jobsDir: "jobs", jobName: job?.jobName ?? "" }))
    ?.pot;
  expect(potsIn(ledgerItems)).toEqual([`${String(pot)}/head`]);
  expect(later.budget?.spent.rollouts).toBe(2);
});

test.each([
  ["before the first repeat", 1, "stopped; 0 of 2 trials have a score"],
  ["between two repeats", 2, "stopped; 1 of 2 trials have a score"],
])("a stop ends the wait for another command that starts %s", async (_, heldFrom, message) => {
  const plays: Record<string, TaskPlay> = { alpha: {} };
  const { scenes, disk } = await rivals(1, plays);
  const [scene] = scenes;
  if (scene === undefined) throw new Error("no scene");
  // The claim's name is the settings' digest, which repeats do not change.
  const { plan } = await run(scene, {});
  const name = plan.settingsDigest.slice(-32);
  plays["alpha"] = { solve: async () => void disk.claims.add(name) };
  if (heldFrom === 1) disk.claims.add(name);
  const waiting = run(scene, { trials: 2 });
  waiting.catch(() => undefined);
  const count = (wanted: string): number =>
    scene.events.filter(({ type }) => type === wanted).length;
  await until(() => count("run-planned") === 2 && count("job-ended") === heldFrom);
  scene.stop();
  await expect(waiting).rejects.toMatchObject({ kind: "interrupted", message });
});
