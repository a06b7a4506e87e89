import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type EndedRun, runBenchmark } from "../../api/run-benchmark.ts";
import { BenchError } from "../../core/errors.ts";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import type { JobRef, StoredJob } from "../../core/ports/job-store.ts";
import { someSettings } from "../core/plan/plan-builders.ts";
import { MemoryJobStore } from "../fakes/memory-store.ts";
import { giveNothing, hang, type TaskPlay } from "../fakes/trial-programs.ts";
import { writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { aScene, type Scene, until } from "./run-scene.ts";

async function run(scene: Scene, over: Partial<RunSettingsInput> = {}): Promise<EndedRun> {
  const settings = someSettings({ tasksDir: scene.tasksDir, retryAttempts: 0, ...over });
  return await runBenchmark(settings, scene.world);
}

async function refusalOf(ended: Promise<unknown>): Promise<BenchError> {
  const error: unknown = await ended.catch((thrown: unknown) => thrown);
  if (!(error instanceof BenchError)) throw new Error(`no refusal: ${String(error)}`);
  return error;
}

async function stopWhenRunning(scene: Scene, taskName: string): Promise<void> {
  await until(() => scene.backend.alive.some((name) => name.startsWith(`${taskName}__`)));
  scene.stop();
}

async function notOpened(): Promise<never> {
  throw new Error("a sandbox was looked for");
}

const warningsOf = ({ events }: Scene): string[] =>
  events.flatMap((event) => (event.type === "warning" ? [event.message] : []));

describe("bad input is answered before a sandbox is looked for", () => {
  const cases: Record<string, { readonly over: Partial<RunSettingsInput>; readonly says: RegExp }> =
    {
      "an agent that does not exist": { over: { agent: "claud" }, says: /no agent "claud"/u },
      "a folder that is missing": { over: { tasksDir: "/no/such/tasks" }, says: /no such folder/u },
      "a name that matches nothing": { over: { include: ["zzz"] }, says: /"zzz" matches no task/u },
      "an unsafe job name": { over: { jobName: "../up" }, says: /--job-name/u },
    };

  test.each(Object.entries(cases))("%s", async (_, { over, says }) => {
    const scene = await aScene({ plays: { alpha: {} } });
    let opened = 0;
    const world = { ...scene.world, openBackend: async () => ((opened += 1), scene.backend) };
    const refusal = await refusalOf(run({ ...scene, world }, over));
    expect(["usage", "config"]).toContain(refusal.kind);
    expect(refusal.message).toMatch(says);
    expect(opened).toBe(0);
    expect(scene.store.disk.jobs.size).toBe(0);
  });

  test("tasks that no sandbox can run, and a jobs folder that cannot be written", async () => {
    const scene = await aScene({ plays: { alpha: {} } });
    const closed = { ...scene, world: { ...scene.world, openBackend: notOpened } };
    scene.store.beforeWrite = () => {
      throw new BenchError("usage", "no jobs can be written to jobs", { next: "choose another" });
    };
    expect((await refusalOf(run(closed))).message).toBe("no jobs can be written to jobs");
    const toml = "[environment]\ngpus = 8\n";
    await writeFiles(join(scene.tasksDir, "alpha"), { "task.toml": toml });
    expect((await refusalOf(run(closed))).message).toMatch(/^no task can run: alpha: .*GPUs/u);
  });

  test("and the sandboxes are closed again whatever happens after they were opened", async () => {
    const scene = await aScene({ plays: { alpha: {} } });
    await run(scene);
    expect(scene.backend.isClosed).toBe(true);
    const other = await aScene({ plays: { alpha: {} } });
    other.store.beforeWrite = (path) => {
      if (path.includes("alpha__")) throw new BenchError("unavailable", "disk", { next: "free" });
    };
    await refusalOf(run(other));
    expect(other.backend.isClosed).toBe(true);
  });
});

describe("a run that was stopped", () => {
  test("counts the scores of the repeats that it reached, and all that is left of the others", async () => {
    let solved = 0;
    const plays: Record<string, TaskPlay> = {
      alpha: {},
      beta: { solve: async (play) => await ((solved += 1) > 1 ? hang(play) : undefined) },
      gamma: {},
    };
    const scene = await aScene({ plays });
    const ended = refusalOf(run(scene, { trials: 3, concurrency: 1 }));
    await until(() => solved === 2);
    scene.stop();
    const refusal = await ended;
    expect(refusal.kind).toBe("interrupted");
    // Repeat 1 has three scores, repeat 2 has alpha's, repeat 3 was not started.
    expect(refusal.message).toBe("stopped; 4 of 9 trials have a score");
    expect(refusal.next).toBe("the same command resumes, 5 trials are left");
    expect(scene.store.disk.jobs.size).toBe(2);
  });

  test("counts what a resume kept, also in a repeat that it did not reach again", async () => {
    const plays: Record<string, TaskPlay> = { alpha: {}, beta: { verify: giveNothing } };
    const scene = await aScene({ plays });
    await run(scene, { trials: 2, concurrency: 1 });
    plays["beta"] = { solve: hang };
    const ended = refusalOf(run(scene, { trials: 2, concurrency: 1 }));
    await stopWhenRunning(scene, "beta");
    const refusal = await ended;
    expect(refusal.message).toBe("stopped; 2 of 4 trials have a score");
    expect(refusal.next).toBe("the same command resumes, 2 trials are left");
  });

  test("does not offer to resume what is blocked until a person has looked", async () => {
    const plays: Record<string, TaskPlay> = { alpha: {}, beta: { verify: giveNothing } };
    const scene = await aScene({ plays });
    await run(scene, { concurrency: 1 });
    const [job] = scene.store.disk.jobs.values();
    const files = job?.attempts.get("alpha__00000001");
    const result = Buffer.from(files?.get("result.json") ?? "").toString();
    files?.set("result.json", Buffer.from(`${result}\n`));
    plays["beta"] = { solve: hang };
    const ended = refusalOf(run(scene, { concurrency: 1 }));
    await stopWhenRunning(scene, "beta");
    const refusal = await ended;
    expect(refusal.message).toBe("stopped; 0 of 2 trials have a score");
    expect(refusal.next).toBe("the same command resumes, 1 trial is left");
  });
});

/** A store that counts how often a job's attempts are read for a plan. */
class CountingStore extends MemoryJobStore {
  reads = 0;

  override async readJob(ref: JobRef): Promise<StoredJob> {
    const stored = await super.readJob(ref);
    return {
      ...stored,
      attempts: () => {
        this.reads += 1;
        return stored.attempts();
      },
    };
  }
}

test("a resume reads the attempts once to plan and once more under the lease", async () => {
  const store = new CountingStore();
  const scene = await aScene({ plays: { alpha: {}, beta: {} }, store });
  await run(scene);
  expect(store.reads).toBe(0);
  const again = await run(scene);
  expect(again.jobs[0]).toMatchObject({ reused: 2, ran: 0 });
  expect(store.reads).toBe(2);
});

test("a changed mode in the build context runs its task again, although its digest is the same", async () => {
  const scene = await aScene({ plays: { alpha: {}, beta: {} } });
  const helper = join(scene.tasksDir, "alpha/environment/helper.sh");
  await writeFiles(scene.tasksDir, { "alpha/environment/helper.sh": "#!/bin/sh\n" });
  const first = await run(scene);
  await chmod(helper, 0o644);
  const second = await run(scene);
  const digests = [first, second].map(({ plan }) => plan.tasks[0]?.digest);
  expect(digests[0]).toBe(digests[1]);
  const [job] = second.jobs;
  expect(job).toMatchObject({ reused: 1, ran: 1 });
  expect(job?.job.trials[0]?.why).toMatch(/^its build context changed since alpha__/u);
  expect(job?.tree.trials.trials.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
  expect(job?.tree.trials.superseded).toHaveLength(1);
  expect((await run(scene)).jobs[0]).toMatchObject({ reused: 2, ran: 0 });
});

test("repeats whose image was built differently are flagged, in a warning and in the matrix", async () => {
  const scene = await aScene({ plays: { alpha: {} } });
  let builds = 0;
  scene.backend.digestOf = () => `sha256:${String((builds += 1)).repeat(64)}`;
  const ended = await run(scene, { trials: 2 });
  expect(warningsOf(scene)).toEqual([
    "alpha was scored on 2 different images (sha256:11111111, sha256:22222222): its scores may not be comparable",
  ]);
  const matrix = scene.store.disk.files.get(ended.matrixSummary ?? "");
  const { mixed_images: mixed } = JSON.parse(Buffer.from(matrix ?? "").toString()) as {
    mixed_images: unknown;
  };
  expect(mixed).toEqual([
    { task_name: "alpha", image_digests: ["1", "2"].map((digit) => `sha256:${digit.repeat(64)}`) },
  ]);
});

test("a result records the network that its sandbox gave, not the one that is the default", async () => {
  const scene = await aScene({ plays: { alpha: {} } });
  const ended = await run(scene);
  expect(ended.plan.warnings).toContain("1 task runs without the open internet here");
  const [trial] = ended.jobs[0]?.tree.trials.trials ?? [];
  expect(trial?.record.isolation).toMatchObject({
    network_agent: "closed",
    network_verifier: "closed",
  });
  expect(scene.backend.created.map(({ network }) => network)).toEqual(["closed"]);
});
