import { join } from "node:path";
import { expect, test } from "vitest";
import { runBenchmark } from "../../api/run-benchmark.ts";
import { planDryRun } from "../../api/plan-dry-run.ts";
import type { BackendProbe } from "../../api/probe-backend.ts";
import type { LedgerItem } from "../../core/model/ledger-update.ts";
import { BenchError } from "../../core/errors.ts";
import { systemClock } from "../../host/system-clock.ts";
import { ALL_CAPS, someSettings } from "../core/plan/plan-builders.ts";
import { emptyDisk } from "../fakes/memory-disk.ts";
import { writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { aScene } from "./run-scene.ts";

const MISSING: BackendProbe = { kind: "missing", detail: "no daemon answers", next: "start it" };
const CLOSED: BackendProbe = { kind: "works", caps: { ...ALL_CAPS, publicNetwork: false } };

const onlyLocal = async (kind: string): Promise<BackendProbe> =>
  kind === "local" ? CLOSED : MISSING;

async function notAsked(): Promise<never> {
  throw new Error("a sandbox was asked");
}

async function threeTasks() {
  const scene = await aScene({ plays: { asks: {}, gpu: {}, plain: {} } });
  await writeFiles(scene.tasksDir, {
    "asks/task.toml": "[environment]\nallow_internet = true\n",
    "gpu/task.toml": "[environment]\ngpus = 8\n",
  });
  return scene;
}

test("a dry run says of each kind of sandbox how many of the tasks it can run, and why not all", async () => {
  const { tasksDir, world } = await threeTasks();
  const settings = someSettings({ tasksDir, agent: "script" });
  const { backends, plan } = await planDryRun(settings, world, onlyLocal);
  const [local, docker] = backends;
  expect(local).toMatchObject({ environment: "local", missing: null, canRun: 1, tasks: 3 });
  expect(local?.reasons.map(({ tasks }) => tasks)).toEqual([["asks"], ["gpu"], ["gpu"]]);
  expect(local?.reasons[0]?.reason).toMatch(/^has no way to the open internet here/u);
  expect(docker).toMatchObject({ missing: "no daemon answers", canRun: 2, tasks: 3 });
  expect(plan.tasks.map(({ name }) => name)).toEqual(["plain"]);
  expect(plan.warnings).toEqual(["1 task runs without the open internet here"]);
});

test("a dry run of a control counts what only an agent lacks as runnable", async () => {
  const { tasksDir, world } = await threeTasks();
  const { backends, plan } = await planDryRun(someSettings({ tasksDir }), world, onlyLocal);
  expect(backends[0]).toMatchObject({ canRun: 2, tasks: 3 });
  expect(plan.tasks.map(({ name }) => name)).toEqual(["asks", "plain"]);
  expect(plan.warnings).toContain("1 task runs without the open internet that it asks for: asks");
});

test("a dry run of a sandbox that cannot be had plans what the tasks allow, and says what is not known", async () => {
  const { tasksDir, world, store } = await threeTasks();
  const settings = someSettings({ tasksDir, environment: "docker" });
  const { plan } = await planDryRun(settings, world, async () => MISSING);
  expect(plan.tasks.map(({ name }) => name)).toEqual(["asks", "plain"]);
  expect(plan.warnings).toEqual([
    "--env docker cannot be had here (no daemon answers): what it lacks for these tasks is not known",
  ]);
  expect(store.disk).toEqual(emptyDisk());
});

test("a dry run refuses what the run itself would, and asks no sandbox for it", async () => {
  const { tasksDir, world } = await threeTasks();
  const wrong = [
    { tasksDir: join(tasksDir, "none") },
    { agent: "claud" },
    { include: ["zzz"] },
    { environment: "e2b" } as const,
  ];
  for (const over of wrong) {
    const settings = someSettings({ tasksDir, ...over });
    await expect(planDryRun(settings, world, notAsked)).rejects.toBeInstanceOf(BenchError);
  }
});

test("a task that only waits for the user's word on the internet is not sent to its check", async () => {
  const { tasksDir, world } = await threeTasks();
  const next = async (name: string): Promise<string> => {
    const settings = someSettings({ tasksDir: join(tasksDir, name), agent: "script" });
    const refused = await planDryRun(settings, world, onlyLocal).catch((thrown: unknown) => thrown);
    return refused instanceof BenchError ? refused.next : "";
  };
  expect(await next("asks")).toBe(
    "add `--without-internet` to run without it, or use `--env docker`",
  );
  expect(await next("gpu")).toContain("bench tasks check");
});

test("a dry run names the pot that the run would go on with and what is spent there, and opens none", async () => {
  const ledgerItems = new Map<string, LedgerItem>();
  const scene = await aScene({ plays: { alpha: {}, beta: {} }, ledgerItems });
  const settings = someSettings({ tasksDir: scene.tasksDir, maxRollouts: 1 });
  const dry = async () => await planDryRun(settings, scene.world, onlyLocal);
  expect((await dry()).money).toMatchObject({
    caps: { max_rollouts: 1, max_cost_usd: null },
    pot: null,
    prices: [],
    trial: null,
  });
  expect(ledgerItems.size).toBe(0);
  await runBenchmark(settings, { ...scene.world, clock: systemClock });
  const before = JSON.stringify([...ledgerItems]);
  const { money } = await dry();
  expect(money?.pot).toMatchObject({
    of_job: expect.stringMatching(/^jobs\//u),
    spent: { rollouts: 1 },
    held: { rollouts: 0 },
  });
  expect(JSON.stringify([...ledgerItems])).toBe(before);
  ledgerItems.clear();
  await expect(dry()).rejects.toMatchObject({
    kind: "config",
    message: expect.stringContaining("its ledger is gone"),
  });
});

test("a dry run of a control without a cap has no money to tell of", async () => {
  const scene = await aScene({ plays: { alpha: {} } });
  const settings = someSettings({ tasksDir: scene.tasksDir });
  expect((await planDryRun(settings, scene.world, onlyLocal)).money).toBeNull();
});
