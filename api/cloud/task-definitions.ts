import type { RegisterTaskDefinitionCommandInput } from "@aws-sdk/client-ecs";
import * as z from "zod";
import { awsFailure, refusalOf } from "../../aws/aws-error.ts";
import { BenchError } from "../../core/errors.ts";
import type { CloudImage } from "../../core/model/cloud-work.ts";
import type { Task } from "../../core/model/task.ts";
import { sha256Hex } from "../../host/sha256-hex.ts";
import {
  fargateSize,
  fargateStorageGib,
  taskDefinitionOf,
} from "../../sandboxes/fargate/task-definition.ts";
import type { CloudAccount } from "./cloud-account.ts";
import type { SentPrograms } from "./cloud-programs.ts";

/** Runs our programs. Public, so that the first run needs no build of ours. */
const RUNNER_IMAGE = "public.ecr.aws/docker/library/node:22-bookworm-slim";

const Answer = z.object({ taskDefinition: z.object({ taskDefinitionArn: z.string() }) });

/**
 * The task definition for trials of a task: its family is the hash of all that it says, so that equal ones
 * are registered once, and one that a run names never changes. Throws `BenchError` (`config`) for a task
 * that no size of Fargate's holds.
 */
export async function taskDefinition(
  account: CloudAccount,
  task: Task,
  parts: { readonly image: CloudImage; readonly sent: SentPrograms; readonly runnerImage?: string },
): Promise<string> {
  const { cpus, memoryMb, storageMb } = task.config.sandbox;
  const size = fargateSize({ cpus, memoryMb });
  if (size === null) {
    const asked = `${cpus} processors and ${memoryMb} MB`;
    throw new BenchError("config", `task ${task.name} asks for ${asked}, more than Fargate has`, {
      next: "lower cpus or memory_mb in its task.toml, or leave it out with -x",
    });
  }
  const storageGib = fargateStorageGib(storageMb);
  if (storageGib === null) {
    const asked = `${storageMb} MB of disk`;
    throw new BenchError("config", `task ${task.name} asks for ${asked}, Fargate has 200 GiB`, {
      next: "lower storage_mb in its task.toml, or leave it out with -x",
    });
  }
  const { stack, services } = account;
  const describe = (family: string) =>
    taskDefinitionOf(
      { family, image: parts.image.reference, declared: { cpus, memoryMb }, size, storageGib },
      {
        runnerImage: parts.runnerImage ?? RUNNER_IMAGE,
        bucket: stack.OutBucket,
        taskRoleArn: stack.OutRunnerRole,
        executionRoleArn: stack.OutExecutionRole,
        logGroup: stack.OutLogGroup,
        region: services.region,
        ...parts.sent,
      },
    );
  const hash = sha256Hex(JSON.stringify(describe("")));
  const family = `bench-${hash.slice(0, 32)}`;
  return (await findDefinition(account, family)) ?? (await register(account, describe(family)));
}

async function findDefinition({ services }: CloudAccount, family: string): Promise<string | null> {
  const input = { taskDefinition: family };
  try {
    const answer = await (await services.ecs()).describeTaskDefinition(input);
    return Answer.parse(answer).taskDefinition.taskDefinitionArn;
  } catch (error) {
    // ECS has one name for every wrong argument; this call has no other.
    if (refusalOf(error)?.code === "ClientException") return null;
    throw awsFailure(error, "look for a task definition");
  }
}

async function register(
  { services }: CloudAccount,
  input: RegisterTaskDefinitionCommandInput,
): Promise<string> {
  try {
    const answer = await (await services.ecs()).registerTaskDefinition(input);
    return Answer.parse(answer).taskDefinition.taskDefinitionArn;
  } catch (error) {
    throw awsFailure(error, "register a task definition");
  }
}
