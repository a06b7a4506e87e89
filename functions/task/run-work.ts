import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import { CloudWork } from "../../core/model/cloud-work.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { ObjectStore } from "../../core/ports/object-store.ts";
import type { SandboxBackend } from "../../core/ports/sandbox.ts";
import { hashing } from "../../host/hashing.ts";
import { identifyProcess } from "../../host/process-identity.ts";
import { chooseAgent } from "../../runner/agents/choose-agent.ts";
import { PreparedImages } from "../../runner/prepared-images.ts";
import { runTrial } from "../../runner/run-trial.ts";
import { SandboxRoot } from "../../sandboxes/files/sandbox-root.ts";
import { unpackTar } from "../../sandboxes/files/unpack-tar.ts";
import { FileJobStore } from "../../stores/files/file-job-store.ts";
import { bodyOfBytes, readObject } from "../../stores/objects/object-body.ts";
import { RunLayout, taskBundleKey } from "../../stores/objects/run-layout.ts";
import { uploadAttempt } from "../../stores/objects/upload-attempt.ts";

/** What a runner in the cloud touches of the world. */
export interface WorkWorld {
  readonly objects: ObjectStore;
  readonly openBackend: (work: CloudWork) => SandboxBackend;
  /** Names this runner: the claim of an attempt holds it. */
  readonly taskId: string;
  /** An empty folder for the task and the attempt, of this runner alone. */
  readonly scratchDir: string;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  /** The platform's stop: what exists is sealed and sent. */
  readonly signal: AbortSignal;
}

/** How a runner's work ended: sealed and sent, or left to the runner that had claimed it first. */
export type WorkEnd = "sealed" | "claimed-by-another";

/**
 * Runs the one attempt that a work item describes and sends its sealed folder. The first write claims the
 * attempt, so that a runner that the platform started twice ends before it does anything. Throws
 * `BenchError` when the store fails, or when the item or the task's bundle is not what it should be.
 */
export async function runWork(workKey: string, world: WorkWorld): Promise<WorkEnd> {
  const { objects, taskId, log } = world;
  const work = await readWork(objects, workKey);
  const layout = new RunLayout(work.run).attempt(work.spec.rolloutName);
  const claim = bodyOfBytes(`${JSON.stringify({ task: taskId })}\n`);
  if ((await objects.create(layout.object("claim"), claim)) === "differs")
    return "claimed-by-another";
  const taskDir = join(world.scratchDir, "task");
  await fetchTask(objects, work.bundle, taskDir);
  log(`${work.spec.rolloutName}: running`);
  const attemptDir = await runAttempt(work, taskDir, world);
  await uploadAttempt(objects, attemptDir, layout);
  await rm(taskDir, { recursive: true });
  return "sealed";
}

async function readWork(objects: ObjectStore, key: string): Promise<CloudWork> {
  const bytes = await readObject(objects, key);
  const work = CloudWork.safeParse(
    JSON.parse(new TextDecoder().decode(bytes ?? Buffer.from("null"))),
  );
  if (work.success) return work.data;
  throw damaged(`${key} is no work item`, work.error);
}

async function fetchTask(objects: ObjectStore, sha256: string, taskDir: string): Promise<void> {
  const key = taskBundleKey(sha256);
  const found = await objects.open(key);
  if (found === null) throw damaged(`${key} is gone`);
  await mkdir(taskDir, { recursive: true });
  const hash = createHash("sha256");
  const root = new SandboxRoot({ id: "task", path: taskDir, mounts: [], isAlive: () => true });
  await unpackTar(hashing(found.bytes, hash), "/", root);
  if (hash.digest("hex") !== sha256) throw damaged(`${key} has other bytes than its name says`);
}

/** The attempt's folder here, sealed. */
async function runAttempt(work: CloudWork, taskDir: string, world: WorkWorld): Promise<string> {
  const { spec, settings, evaluation } = work;
  const jobsDir = join(world.scratchDir, "jobs");
  const ownerProcess = identifyProcess();
  const store = new FileJobStore(jobsDir, { owner: ownerProcess });
  const { jobName } = spec;
  const job = await store.openJob({ jobsDir, jobName, mode: "new", evaluation });
  const backend = world.openBackend(work);
  try {
    await runTrial(
      { ...spec, task: { ...spec.task, dir: taskDir } },
      {
        agent: chooseAgent(settings.agent),
        backend,
        images: new PreparedImages(backend, 1),
        folder: await job.openAttempt(spec.rolloutName),
        rolloutDir: `${work.jobDir}/${spec.rolloutName}`,
        clock: world.clock,
        ownerProcess,
        settings,
        onEvent: (event) => {
          if (event.type === "phase-started") world.log(`${event.rolloutName}: ${event.phase}`);
          if (event.type === "warning") world.log(`warning: ${event.message}`);
        },
        signal: world.signal,
      },
    );
    return join(job.dir, spec.rolloutName);
  } finally {
    await backend.close();
    await job.close();
  }
}

function damaged(message: string, cause?: unknown): BenchError {
  return new BenchError("unavailable", message, { next: "start the run again", cause });
}
