import type { ContainerDefinition, RegisterTaskDefinitionCommandInput } from "@aws-sdk/client-ecs";
import { entryPointOf, KIT_DIR, SOCKET_DIR } from "./kit.ts";

/** What all definitions of one deployment share. */
export interface TaskSurroundings {
  /** Runs our programs: any image with Node.js 20 or newer on glibc. */
  readonly runnerImage: string;
  readonly bucket: string;
  readonly taskRoleArn: string;
  readonly executionRoleArn: string;
  readonly logGroup: string;
  readonly region: string;
  /** Source of the boot program, and the hashes of those that it fetches. */
  readonly boot: string;
  readonly programs: Readonly<Record<"task" | "execd", string>>;
}

export interface TaskSize {
  readonly cpus: number;
  readonly memoryMb: number;
}

/** The runner's own share, beside what the task declares (attack 21). */
const RUNNER: TaskSize = { cpus: 0.25, memoryMb: 512 };
const MIB_PER_GB = 1024;

/** Fargate's sizes: processors, then the memory in GB from, to, in steps (ECS developer guide, "Task size"). */
const SIZES = [
  { cpus: 0.5, from: 1, to: 4, step: 1 },
  { cpus: 1, from: 2, to: 8, step: 1 },
  { cpus: 2, from: 4, to: 16, step: 1 },
  { cpus: 4, from: 8, to: 30, step: 1 },
  { cpus: 8, from: 16, to: 60, step: 4 },
  { cpus: 16, from: 32, to: 120, step: 8 },
] as const;

/** The smallest size of Fargate's that holds the declared one and the runner; null when none does. */
export function fargateSize(declared: TaskSize): TaskSize | null {
  const cpus = declared.cpus + RUNNER.cpus;
  const wantedGb = (declared.memoryMb + RUNNER.memoryMb) / MIB_PER_GB;
  for (const size of SIZES) {
    if (size.cpus < cpus || size.to < wantedGb) continue;
    const steps = Math.max(0, Math.ceil((wantedGb - size.from) / size.step));
    return { cpus: size.cpus, memoryMb: (size.from + steps * size.step) * MIB_PER_GB };
  }
  return null;
}

/** What every task gets, and the most that one may ask for (ECS developer guide, "Fargate task ephemeral storage"). */
const OWN_STORAGE_GIB = 20;
const MAX_STORAGE_GIB = 200;

/**
 * GiB of disk that a definition has to ask for; 0 where what every task gets suffices, null where Fargate has
 * no such disk.
 */
export function fargateStorageGib(storageMb: number): number | null {
  const wantedGib = Math.ceil(storageMb / MIB_PER_GB);
  if (wantedGib > MAX_STORAGE_GIB) return null;
  return wantedGib > OWN_STORAGE_GIB ? wantedGib : 0;
}

/** A family's name and what runs in it: the task's image with its declared size, in a size of Fargate's. */
export interface TrialFamily {
  readonly family: string;
  readonly image: string;
  readonly declared: TaskSize;
  readonly size: TaskSize;
  /** Of `fargateStorageGib`. */
  readonly storageGib: number;
}

/**
 * The input of RegisterTaskDefinition for trials on one image. Three containers: `kit` puts our programs on
 * a shared volume and ends; `sandbox` is the task's image with execd as its first program; `runner` drives
 * the trial, alone has a log beside the kit, and ends the task.
 */
export function taskDefinitionOf(
  { family, image, declared, size, storageGib }: TrialFamily,
  surroundings: TaskSurroundings,
): RegisterTaskDefinitionCommandInput {
  return {
    family,
    requiresCompatibilities: ["FARGATE"],
    networkMode: "awsvpc",
    cpu: String(size.cpus * 1024),
    memory: String(size.memoryMb),
    ...(storageGib === 0 ? {} : { ephemeralStorage: { sizeInGiB: storageGib } }),
    taskRoleArn: surroundings.taskRoleArn,
    executionRoleArn: surroundings.executionRoleArn,
    runtimePlatform: { cpuArchitecture: "X86_64", operatingSystemFamily: "LINUX" },
    volumes: [{ name: "kit" }, { name: "run" }],
    containerDefinitions: [
      kitContainer(surroundings),
      sandboxContainer(image, declared),
      runnerContainer(surroundings),
    ],
  };
}

const READY = { containerName: "kit", condition: "SUCCESS" } as const;

function kitContainer(surroundings: TaskSurroundings): ContainerDefinition {
  const { runnerImage, boot, bucket, programs } = surroundings;
  const named = Object.entries(programs).map(([name, sha256]) => `${name}=${sha256}`);
  return {
    name: "kit",
    image: runnerImage,
    essential: false,
    entryPoint: ["node", "--input-type=module", "-e", boot, bucket, KIT_DIR, ...named],
    command: [],
    mountPoints: [mount("kit", KIT_DIR, false)],
    logConfiguration: logOf(surroundings),
  };
}

/** Its memory is a hard limit, and nothing of ours is in its environment; its output is the trial's. */
function sandboxContainer(image: string, declared: TaskSize): ContainerDefinition {
  return {
    name: "sandbox",
    image,
    essential: false,
    user: "0",
    cpu: Math.round(declared.cpus * 1024),
    memory: declared.memoryMb,
    entryPoint: entryPointOf(KIT_DIR, SOCKET_DIR),
    command: [],
    dependsOn: [READY],
    mountPoints: [mount("kit", KIT_DIR, true), mount("run", SOCKET_DIR, false)],
    startTimeout: 120,
    stopTimeout: 30,
  };
}

function runnerContainer(surroundings: TaskSurroundings): ContainerDefinition {
  return {
    name: "runner",
    image: surroundings.runnerImage,
    essential: true,
    entryPoint: ["node", `${KIT_DIR}/task.mjs`],
    command: [],
    environment: [{ name: "BENCH_BUCKET", value: surroundings.bucket }],
    dependsOn: [READY, { containerName: "sandbox", condition: "START" }],
    mountPoints: [mount("kit", KIT_DIR, true), mount("run", SOCKET_DIR, false)],
    startTimeout: 120,
    // As long as the platform gives: what exists is sealed and sent in it.
    stopTimeout: 120,
    logConfiguration: logOf(surroundings),
  };
}

function mount(sourceVolume: string, containerPath: string, readOnly: boolean) {
  return { sourceVolume, containerPath, readOnly };
}

function logOf({ logGroup, region }: TaskSurroundings) {
  return {
    logDriver: "awslogs" as const,
    options: {
      "awslogs-group": logGroup,
      "awslogs-region": region,
      "awslogs-stream-prefix": "trial",
    },
  };
}
