import pLimit from "p-limit";
import { awsFailure } from "../../aws/aws-error.ts";
import { BenchError } from "../../core/errors.ts";
import { type CloudImage, CloudItem, CloudRun, CloudWork } from "../../core/model/cloud-work.ts";
import type { PlannedTrial } from "../../core/model/plan.ts";
import { ControlAgent } from "../../core/model/settings.ts";
import type { AttemptSpec } from "../../core/model/trial.ts";
import type { Task } from "../../core/model/task.ts";
import { readEarlierAttempt } from "../../core/plan/read-earlier-jobs.ts";
import { rolloutNameOf } from "../../core/plan/rollout-name.ts";
import type { ObjectStore } from "../../core/ports/object-store.ts";
import { bodyOfBytes } from "../../stores/objects/object-body.ts";
import { RunLayout, taskBundleKey } from "../../stores/objects/run-layout.ts";
import { syncJob } from "../../stores/objects/sync-job.ts";
import { packTask } from "../../stores/objects/task-bundle.ts";
import { putOnce } from "../../stores/objects/upload-attempt.ts";
import { S3ObjectStore } from "../../stores/s3/s3-object-store.ts";
import { attemptSpec } from "../attempt-spec.ts";
import type { JobRun } from "../run-trials.ts";
import { type CloudAccount, openCloudAccount, readCaller } from "./cloud-account.ts";
import { type SentPrograms, sendPrograms } from "./cloud-programs.ts";
import { endedRuns, runPrefix } from "./earlier-runs.ts";
import { overseeSweep } from "./oversee-sweep.ts";
import { Sweep } from "./sweep.ts";
import { taskDefinition } from "./task-definitions.ts";
import { taskImage } from "./task-images.ts";

type Env = Readonly<Record<string, string | undefined>>;

const PREPARED_AT_ONCE = 8;
/** What a trial may take beside its own limits, and what the platform takes to start it. */
const OVERHEAD_SEC = 2400;

/**
 * Carries out a repeat's trials in the account: sends what is not there yet, starts one sweep, and mirrors
 * every attempt into the job's folder as it ends. Resolves to the number of trials that ended sealed.
 * An abort stops the sweep, keeps what has ended, and is told by the caller.
 */
export async function runCloudJob(run: JobRun, env: Env): Promise<number> {
  const todo = run.job.trials.filter(({ action }) => action === "run" || action === "verify-only");
  if (todo.length === 0) return 0;
  const { agent } = run.plan.settings;
  if (!ControlAgent.safeParse(agent).success) {
    throw new BenchError("usage", `agent ${agent} is not built yet for --env fargate`, {
      next: "use `-a oracle` or `-a nop` there, or `--env docker`",
    });
  }
  const account = await openCloudAccount(env);
  const cloud = new CloudJob(run, account, env["BENCHFLOW_RUNNER_IMAGE"]);
  return await cloud.carryOut(todo);
}

interface Prepared {
  readonly item: CloudItem;
  readonly spec: AttemptSpec;
}

class CloudJob {
  readonly #run: JobRun;
  readonly #account: CloudAccount;
  readonly #objects: ObjectStore;
  readonly #layout: RunLayout;
  readonly #runnerImage: string | undefined;
  readonly #told = new Set<string>();
  readonly #images = new Map<string, Promise<CloudImage>>();

  constructor(run: JobRun, account: CloudAccount, runnerImage: string | undefined) {
    this.#run = run;
    this.#account = account;
    this.#objects = new S3ObjectStore(account.s3, account.stack.OutBucket);
    this.#layout = new RunLayout(`${runPrefix(run.folder.jobName)}${run.deps.newHex8()}`);
    this.#runnerImage = runnerImage;
  }

  async carryOut(todo: readonly PlannedTrial[]): Promise<number> {
    const { deps, plan, folder } = this.#run;
    for await (const attempt of folder.attempts())
      if (readEarlierAttempt(attempt).kind !== "unfinished") this.#told.add(attempt.rolloutName);
    await this.#refuseSecond();
    const prepared = await this.#prepare(todo);
    const before = this.#told.size;
    const { run, items } = this.#layout;
    deps.signal.throwIfAborted();
    const sweep = await Sweep.start(this.#account, {
      run,
      items,
      width: plan.settings.concurrency,
    });
    deps.onEvent({ type: "cloud-run-started", run, attempts: prepared.length });
    for (const { spec } of prepared) {
      const { rolloutName, attempt } = spec;
      deps.onEvent({ type: "trial-started", taskName: spec.task.name, rolloutName, attempt });
    }
    await overseeSweep(this.#account, sweep, {
      run,
      signal: deps.signal,
      onLook: async () => {
        await this.#sync(this.#layout);
      },
      onStopped: (running) => {
        deps.onEvent({ type: "cloud-run-stopped", run, running });
      },
    });
    return this.#told.size - before;
  }

  /**
   * An earlier run of this job may go on in the account, or have ended with results that nobody brought: no
   * trial is paid for twice.
   */
  async #refuseSecond(): Promise<void> {
    const { plan, job, folder } = this.#run;
    const identity = {
      job_name: folder.jobName,
      repeat: job.repeat,
      settingsDigest: plan.settingsDigest,
    };
    const runs = await endedRuns(this.#account, this.#objects, identity);
    const before = this.#told.size;
    if (job.resumed) for (const run of runs) await this.#sync(run);
    const brought = this.#told.size - before;
    if (brought === 0) return;
    throw new BenchError(
      "unavailable",
      `${brought} trials of this job had ended in the account and were not here; now they are`,
      { next: "run the same command again: it goes on with what has no score" },
    );
  }

  /** Images, task definitions and bundles of every task; then what this run alone needs. */
  async #prepare(todo: readonly PlannedTrial[]): Promise<Prepared[]> {
    const { plan, job, folder, deps } = this.#run;
    const evaluation = await this.#evaluation();
    const sent = await sendPrograms(this.#objects);
    const limit = pLimit(PREPARED_AT_ONCE);
    const prepared = await Promise.all(
      todo.map((trial) => limit(() => this.#prepareTrial(trial, { sent, evaluation }))),
    );
    const cloudRun: CloudRun = {
      schema_version: 1,
      run: this.#layout.run,
      owner: await this.#owner(),
      created_at_utc: deps.clock.now().toISOString(),
      job_name: folder.jobName,
      plan,
      repeat: job.repeat,
      rollouts: prepared.map(({ spec }) => spec.rolloutName),
    };
    await this.#put(this.#layout.plan, JSON.stringify(CloudRun.parse(cloudRun)));
    await this.#put(this.#layout.jobFile("evaluation.json"), evaluation);
    await this.#put(this.#layout.items, JSON.stringify(prepared.map(({ item }) => item)));
    return prepared;
  }

  /** Opening the job's folder wrote it. */
  async #evaluation(): Promise<string> {
    const { folder } = this.#run;
    const bytes = await folder.read("evaluation.json");
    if (bytes !== null) return new TextDecoder().decode(bytes);
    throw new BenchError("unavailable", `${folder.dir} has no evaluation.json any more`, {
      next: "run the same command again",
    });
  }

  async #owner(): Promise<string> {
    try {
      return (await readCaller(this.#account.services)).arn;
    } catch (error) {
      throw awsFailure(error, "ask whose the credentials are");
    }
  }

  async #prepareTrial(
    trial: PlannedTrial,
    { sent, evaluation }: { readonly sent: SentPrograms; readonly evaluation: string },
  ): Promise<Prepared> {
    const { plan, job, folder, deps } = this.#run;
    const task = taskOf(plan.tasks, trial);
    const rolloutName = rolloutNameOf(task.name, deps.newHex8());
    const spec = attemptSpec({
      plan,
      job: { ...job, jobName: folder.jobName },
      task,
      attempt: trial.attempt,
      rolloutName,
      verifyOnlyFrom: null,
      earlierVerifierFailures: trial.verifierFailures,
      runId: this.#layout.run,
    });
    const image = await taskImage(task, {
      account: this.#account,
      objects: this.#objects,
      baseImageMap: plan.settings.baseImageMap,
      asked: this.#images,
      signal: deps.signal,
      onLine: (line) => {
        deps.onEvent({ type: "trial-line", rolloutName, line });
      },
    });
    const bundle = await packTask(task.dir);
    await putOnce(this.#objects, taskBundleKey(bundle.sha256), bundle);
    const work: CloudWork = {
      schema_version: 1,
      run: this.#layout.run,
      spec,
      settings: plan.settings,
      evaluation,
      jobDir: folder.dir,
      bundle: bundle.sha256,
      image,
    };
    const workKey = this.#layout.work(rolloutName);
    await this.#put(workKey, JSON.stringify(CloudWork.parse(work)));
    const parts = {
      image,
      sent,
      ...(this.#runnerImage === undefined ? {} : { runnerImage: this.#runnerImage }),
    };
    const item: CloudItem = {
      rollout: rolloutName,
      work: workKey,
      taskDefinition: await taskDefinition(this.#account, task, parts),
      timeoutSec: limitSec(spec),
    };
    return { item: CloudItem.parse(item), spec };
  }

  async #put(key: string, content: string | Uint8Array): Promise<void> {
    await putOnce(this.#objects, key, bodyOfBytes(content));
  }

  /** Brings what has ended since the last look, and tells of it. */
  async #sync(layout: RunLayout): Promise<void> {
    const { folder, deps } = this.#run;
    const synced = await syncJob(this.#objects, layout, folder.dir);
    for (const path of synced.kept) {
      deps.onEvent({ type: "warning", message: `a file that was changed here is kept as ${path}` });
    }
    for await (const stored of folder.attempts()) {
      if (this.#told.has(stored.rolloutName)) continue;
      const attempt = readEarlierAttempt(stored);
      if (attempt.kind === "unfinished") continue;
      this.#told.add(stored.rolloutName);
      if (attempt.kind === "ended")
        deps.onEvent({ type: "trial-ended", record: attempt.record, retryInMs: null });
    }
  }
}

function taskOf(tasks: readonly Task[], trial: PlannedTrial): Task {
  const task = tasks.find(({ name }) => name === trial.taskName);
  if (task === undefined) throw new Error(`the plan has no task ${trial.taskName}`);
  if (trial.action !== "verify-only") return task;
  throw new BenchError(
    "usage",
    `${task.name} only has to be verified again, which is not built for fargate`,
    {
      next: "run it anew with --fresh, or verify it with --env docker",
    },
  );
}

/** Behind every limit of the runner, which ends a trial that hangs by itself. */
function limitSec(spec: AttemptSpec): number {
  const { buildTimeoutSec } = spec.task.config.sandbox;
  return Math.ceil(
    spec.agentTimeoutSec + 2 * spec.verifierTimeoutSec + buildTimeoutSec + OVERHEAD_SEC,
  );
}
