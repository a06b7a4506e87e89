import { expect, test } from "vitest";
import { ANY_AGENT, missingLimits } from "../../../core/plan/task-refusals.ts";
import { FARGATE_CAPS } from "../../../sandboxes/fargate/fargate-caps.ts";
import {
  fargateSize,
  fargateStorageGib,
  taskDefinitionOf,
} from "../../../sandboxes/fargate/task-definition.ts";

test.each([
  [
    { cpus: 0.25, memoryMb: 512 },
    { cpus: 0.5, memoryMb: 1024 },
  ],
  [
    { cpus: 1, memoryMb: 512 },
    { cpus: 2, memoryMb: 4096 },
  ],
  [
    { cpus: 1, memoryMb: 4096 },
    { cpus: 2, memoryMb: 5120 },
  ],
  [
    { cpus: 0.5, memoryMb: 20_000 },
    { cpus: 4, memoryMb: 21_504 },
  ],
  [
    { cpus: 14, memoryMb: 100_000 },
    { cpus: 16, memoryMb: 106_496 },
  ],
  [{ cpus: 16, memoryMb: 2048 }, null],
  [{ cpus: 1, memoryMb: 122_880 }, null],
])("%o and the runner fit into %o", (declared, size) => {
  expect(fargateSize(declared)).toEqual(size);
});

const FAMILY = {
  family: "bench-1",
  image: "repo:tag",
  declared: { cpus: 1, memoryMb: 512 },
  size: { cpus: 2, memoryMb: 4096 },
  storageGib: 0,
};
const SURROUNDINGS = {
  runnerImage: "node",
  bucket: "bucket",
  taskRoleArn: "role",
  executionRoleArn: "execution",
  logGroup: "logs",
  region: "us-east-1",
  boot: "boot",
  programs: { task: "1".repeat(64), execd: "2".repeat(64) },
};
const definition = taskDefinitionOf(FAMILY, SURROUNDINGS);
const containers = definition["containerDefinitions"] as Record<string, unknown>[];
const named = (name: string) => containers.find((each) => each["name"] === name);

test("the task's image gets its declared memory as a hard limit, no log and no variable", () => {
  const sandbox = named("sandbox");
  expect(sandbox).toMatchObject({ memory: 512, cpu: 1024, user: "0", essential: false });
  expect(sandbox).not.toHaveProperty("logConfiguration");
  expect(sandbox).not.toHaveProperty("environment");
  expect(sandbox).not.toHaveProperty("secrets");
});

test("the kit is read-only for every container but the one that fills it", () => {
  const modes = containers.map(({ name, mountPoints }) => [
    name,
    (mountPoints as { sourceVolume: string; readOnly: boolean }[]).find(
      ({ sourceVolume }) => sourceVolume === "kit",
    )?.readOnly,
  ]);
  expect(modes).toEqual([
    ["kit", false],
    ["sandbox", true],
    ["runner", true],
  ]);
});

test("the task ends with its runner alone", () => {
  expect(containers.filter(({ essential }) => essential).map(({ name }) => name)).toEqual([
    "runner",
  ]);
});

test.each([
  [10_240, 0],
  [20_480, 0],
  [20_481, 21],
  [204_800, 200],
  [204_801, null],
])("%d MB of disk are %o GiB to ask for", (storageMb, gib) => {
  expect(fargateStorageGib(storageMb)).toBe(gib);
});

test("a plan says that Fargate's processors, processes and disk have no limit of the task's own", () => {
  const facts = { ...ANY_AGENT, environment: "fargate" as const, caps: FARGATE_CAPS };
  expect(missingLimits(facts)).toEqual(["--env fargate cannot limit cpu, pids, disk here"]);
});

test("a definition asks for disk only where a task gets too little of it by itself", () => {
  expect(definition).not.toHaveProperty("ephemeralStorage");
  const roomy = taskDefinitionOf({ ...FAMILY, storageGib: 50 }, SURROUNDINGS);
  expect(roomy["ephemeralStorage"]).toEqual({ sizeInGiB: 50 });
});
