import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { awsFailure, refusalOf } from "../../aws/aws-error.ts";
import { BenchError } from "../../core/errors.ts";
import type { CloudImage } from "../../core/model/cloud-work.ts";
import type { Task } from "../../core/model/task.ts";
import type { ObjectStore } from "../../core/ports/object-store.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { sha256Hex } from "../../host/sha256-hex.ts";
import { bodyOfBytes, readObject } from "../../stores/objects/object-body.ts";
import type { CloudAccount } from "./cloud-account.ts";
import { packImageContext } from "./image-context.ts";

type ImageTask = Pick<Task, "name" | "dir" | "environmentDir" | "image">;

export interface ImageDeps {
  readonly account: CloudAccount;
  readonly objects: ObjectStore;
  readonly baseImageMap: Readonly<Record<string, string>>;
  /** Images of this run so far by the hashes of their contexts: tasks with the same one wait for one build. */
  readonly asked: Map<string, Promise<CloudImage>>;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

const LINK_SEC = 3600;
const POLL_MS = 2000;
const FIRST_POLL_MS = 250;

/**
 * The image of a task: one that CodeBuild made of the task's build context, under the context's hash, built
 * now when the repository does not have it. A prebuilt image is taken over the same way, so that no trial
 * pulls from elsewhere. Throws `BenchError` (`config`) for a Dockerfile that cannot be read and a build that fails.
 */
export async function taskImage(task: ImageTask, deps: ImageDeps): Promise<CloudImage> {
  const context = await packImageContext(task, deps.baseImageMap).catch((error: unknown) => {
    throw unpacked(task, error);
  });
  const sha256 = sha256Hex(context);
  const image = deps.asked.get(sha256) ?? findOrBuild(task, context, sha256, deps);
  deps.asked.set(sha256, image);
  return await image;
}

async function findOrBuild(
  task: ImageTask,
  context: Uint8Array,
  sha256: string,
  deps: ImageDeps,
): Promise<CloudImage> {
  const reference = `${deps.account.stack.OutImages}:${sha256}`;
  const found = await findImage(sha256, reference, deps);
  if (found !== null) return found;
  deps.onLine(`building the image of ${task.name}`);
  await deps.objects.create(contextKey(sha256), bodyOfBytes(context));
  await build(task, { sha256, reference }, deps);
  const built = await findImage(sha256, reference, deps);
  if (built !== null) return built;
  throw new BenchError("unavailable", `the image of task ${task.name} was built and is not there`, {
    next: "run the same command again",
  });
}

function contextKey(sha256: string): string {
  return `contexts/${sha256}.tar`;
}

function configKey(sha256: string): string {
  return `images/${sha256}.json`;
}

/** What we read of an image's configuration (OCI image specification, "config"). */
const Config = z.object({
  User: z.string().nullish(),
  Entrypoint: z.array(z.string()).nullish(),
});

const Images = z.object({ imageDetails: z.array(z.object({ imageDigest: z.string() })) });

/** The image of that tag, where both it and its configuration are there. */
async function findImage(
  tag: string,
  reference: string,
  { account, objects, signal }: ImageDeps,
): Promise<CloudImage | null> {
  const recorded = await readObject(objects, configKey(tag));
  if (recorded === null) return null;
  const { User, Entrypoint } = Config.parse(JSON.parse(new TextDecoder().decode(recorded)));
  const input = { repositoryName: account.stack.OutImagesName, imageIds: [{ imageTag: tag }] };
  try {
    const ecr = await account.services.ecr();
    const answer = await ecr.describeImages(input, { abortSignal: signal });
    const { imageDetails } = Images.parse(answer);
    const digest = imageDetails[0]?.imageDigest ?? null;
    return { reference, digest, user: User ?? "", entrypoint: Entrypoint ?? [] };
  } catch (error) {
    if (refusalOf(error)?.code === "ImageNotFoundException") return null;
    throw awsFailure(error, "look for an image");
  }
}

const Started = z.object({ build: z.object({ id: z.string() }) });
const Builds = z.object({
  builds: z.array(
    z.object({
      buildStatus: z.string(),
      logs: z.object({ deepLink: z.string().optional() }).optional(),
    }),
  ),
});

async function build(
  task: ImageTask,
  { sha256, reference }: { readonly sha256: string; readonly reference: string },
  { account, signal }: ImageDeps,
): Promise<void> {
  const { s3, services, stack } = account;
  const at = (key: string): string => `/${stack.OutBucket}/${key}`;
  const variables = {
    CONTEXT_URL: await s3.linkTo("GET", at(contextKey(sha256)), LINK_SEC),
    CONFIG_URL: await s3.linkTo("PUT", at(configKey(sha256)), LINK_SEC),
    CONTEXT_SHA256: sha256,
    IMAGE: reference,
    REGISTRY: reference.split("/")[0] ?? "",
  };
  const input = {
    projectName: stack.OutBuilds,
    environmentVariablesOverride: Object.entries(variables).map(([name, value]) => ({
      name,
      value,
    })),
  };
  try {
    const codeBuild = await services.codeBuild();
    const { id } = Started.parse(await codeBuild.startBuild(input, { abortSignal: signal })).build;
    for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(POLL_MS, waitMs * 2)) {
      const answer = await codeBuild.batchGetBuilds({ ids: [id] }, { abortSignal: signal });
      const [found] = Builds.parse(answer).builds;
      if (found?.buildStatus === "SUCCEEDED") return;
      if (found !== undefined && found.buildStatus !== "IN_PROGRESS") throw unbuilt(task, found);
      await delay(waitMs, undefined, { signal });
    }
  } catch (error) {
    signal.throwIfAborted();
    throw awsFailure(error, `build the image of ${task.name}`);
  }
}

function unbuilt(
  task: ImageTask,
  { buildStatus, logs }: z.infer<typeof Builds>["builds"][number],
): BenchError {
  const log = logs?.deepLink ?? "the build project's log group";
  return new BenchError("config", `the image of task ${task.name} was not built: ${buildStatus}`, {
    next: `read ${log}`,
  });
}

/** A Dockerfile or an ignore file that cannot be read is the task's; what else is thrown stays as it is. */
function unpacked(task: ImageTask, error: unknown): unknown {
  if (!(error instanceof SandboxError)) return error;
  return new BenchError("config", `the image of task ${task.name}: ${error.message}`, {
    next: "mend it, or leave the task out with -x",
    cause: error,
  });
}
