import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { AwsServices } from "../../aws/aws-services.ts";
import { CloudWork } from "../../core/model/cloud-work.ts";
import { RunSettings } from "../../core/model/settings.ts";
import { TrialResult } from "../../core/model/trial-result.ts";
import { fargateSize, taskDefinitionOf } from "../../sandboxes/fargate/task-definition.ts";
import { bodyOfBytes } from "../../stores/objects/object-body.ts";
import { RunLayout, taskBundleKey } from "../../stores/objects/run-layout.ts";
import { syncJob } from "../../stores/objects/sync-job.ts";
import { packTask } from "../../stores/objects/task-bundle.ts";
import type { S3ObjectStore } from "../../stores/s3/s3-object-store.ts";
import { readTasks } from "../../stores/task-folders/read-tasks.ts";
import { exampleTasks } from "./example-tasks.ts";
import { emptyBucket, emulatedEnv } from "./emulated-account.ts";

const BUCKET = "bench-one-trial";
const RUN = `one-${Date.now()}`;
const ROLLOUT = "word-count__00000001";
const services = new AwsServices(emulatedEnv());
const layout = new RunLayout(RUN);
const declared = { cpus: 1, memoryMb: 512 };
let objects: S3ObjectStore;
let tasksDir = "";
let copy = "";

beforeAll(async () => {
  objects = await emptyBucket(BUCKET);
  tasksDir = exampleTasks(["word-count"]);
  copy = mkdtempSync(join(tmpdir(), "bench-copy-"));
  const { tasks } = await readTasks(tasksDir);
  const [task] = tasks;
  if (task === undefined) throw new Error("no task");
  const bundle = await packTask(task.dir);
  await objects.create(taskBundleKey(bundle.sha256), bundle);
  const work: CloudWork = {
    schema_version: 1,
    run: RUN,
    spec: {
      // Its Dockerfile's COPY is what the image of this test lacks: the solution then finds no poem.
      task,
      settingsDigest: "0".repeat(64),
      attempt: 1,
      rolloutName: ROLLOUT,
      jobName: "job",
      runId: RUN,
      agent: "oracle",
      model: null,
      environment: "fargate",
      agentTimeoutSec: 60,
      verifierTimeoutSec: 60,
      idleTimeoutSec: 0,
      lenientRewards: false,
      saveOutputs: false,
      verifyOnlyFrom: null,
    },
    settings: RunSettings.parse({ tasksDir, agent: "oracle", environment: "fargate" }),
    evaluation: '{"tasks_dir": "tasks"}\n',
    jobDir: "jobs/job",
    bundle: bundle.sha256,
    image: { reference: "bench-base:debian", digest: null, user: "", entrypoint: [] },
  };
  await objects.create(layout.work(ROLLOUT), bodyOfBytes(JSON.stringify(CloudWork.parse(work))));
});

afterAll(() => {
  for (const dir of [tasksDir, copy]) rmSync(dir, { recursive: true });
});

async function registerTask(): Promise<string> {
  const programs = { task: "", execd: "" };
  for (const name of ["task", "execd"] as const) {
    const bytes = readFileSync(`dist/cloud/${name}.mjs`);
    programs[name] = createHash("sha256").update(bytes).digest("hex");
    await objects.create(`kit/${programs[name]}.mjs`, bodyOfBytes(bytes));
  }
  const size = fargateSize(declared);
  if (size === null) throw new Error("no size");
  const input = taskDefinitionOf(
    { family: "bench-one", image: "bench-base:debian", declared, size, storageGib: 0 },
    {
      runnerImage: "bench-base:node",
      bucket: BUCKET,
      taskRoleArn: "arn:aws:iam::000000000000:role/runner",
      executionRoleArn: "arn:aws:iam::000000000000:role/execution",
      logGroup: "/bench/one",
      region: "us-east-1",
      boot: readFileSync("dist/cloud/boot.mjs", "utf8"),
      programs,
    },
  );
  const ecs = await services.ecs();
  await ecs.createCluster({ clusterName: "one" });
  const shape = z.object({ taskDefinition: z.object({ taskDefinitionArn: z.string() }) });
  return shape.parse(await ecs.registerTaskDefinition(input)).taskDefinition.taskDefinitionArn;
}

const Tasks = z.object({
  tasks: z.array(
    z.object({
      taskArn: z.string(),
      lastStatus: z.string(),
      stoppedReason: z.string().optional(),
      containers: z.array(z.object({ name: z.string(), exitCode: z.int().optional() })),
    }),
  ),
});

async function runTask(taskDefinition: string) {
  const environment = [{ name: "BENCH_WORK", value: layout.work(ROLLOUT) }];
  const input = {
    cluster: "one",
    taskDefinition,
    launchType: "FARGATE" as const,
    overrides: { containerOverrides: [{ name: "runner", environment }] },
    networkConfiguration: {
      awsvpcConfiguration: { subnets: ["subnet-1"], assignPublicIp: "ENABLED" as const },
    },
  };
  const ecs = await services.ecs();
  const [started] = Tasks.parse(await ecs.runTask(input)).tasks;
  const query = { cluster: "one", tasks: [started?.taskArn ?? ""] };
  for (;;) {
    const [task] = Tasks.parse(await ecs.describeTasks(query)).tasks;
    if (task?.lastStatus === "STOPPED") return task;
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }
}

test("a task of three containers runs one trial, and its tree comes back sealed", async () => {
  const definition = await registerTask();
  const task = await runTask(definition);
  expect(
    task.containers.map(({ name, exitCode }) => [name, exitCode]),
    task.stoppedReason,
  ).toEqual([
    ["kit", 0],
    ["sandbox", 0],
    ["runner", 0],
  ]);
  expect(await syncJob(objects, layout, copy)).toMatchObject({ attempts: 1, complete: false });
  const result = TrialResult.parse(
    JSON.parse(readFileSync(join(copy, ROLLOUT, "result.json"), "utf8")),
  );
  // The image has no poem: the solution counts nothing, and the verifier says so.
  expect(result.outcome).toMatchObject({ kind: "scored", passed: false });
  expect(result.isolation).toMatchObject({
    backend: "fargate",
    image: "bench-base:debian",
    network_agent: "public",
    uid_separation: true,
  });
  expect(result.resources?.peak_memory_bytes).toBeGreaterThan(1_000_000);

  // The platform may start a runner twice: the second finds the claim and touches nothing.
  const before = readFileSync(join(copy, ROLLOUT, "seal.json"), "utf8");
  const again = await runTask(definition);
  expect(again.containers.find(({ name }) => name === "runner")?.exitCode).toBe(0);
  await syncJob(objects, layout, copy, { verify: true });
  expect(readFileSync(join(copy, ROLLOUT, "seal.json"), "utf8")).toBe(before);
});
