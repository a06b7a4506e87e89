import { BenchError } from "../../core/errors.ts";
import { FileJobStore } from "../../stores/files/file-job-store.ts";
import { readObject } from "../../stores/objects/object-body.ts";
import { readRun } from "../../stores/objects/read-run.ts";
import { RunLayout } from "../../stores/objects/run-layout.ts";
import { type SyncedJob, syncJob } from "../../stores/objects/sync-job.ts";
import { S3ObjectStore } from "../../stores/s3/s3-object-store.ts";
import { openCloudAccount } from "./cloud-account.ts";
import { writeSyncedFiles } from "./write-synced-files.ts";

export interface SyncedRun extends SyncedJob {
  readonly jobDir: string;
  /** Attempts that the run was started with. */
  readonly planned: number;
  /** Attempts of earlier runs that its job keeps and that are not here: there is no summary without them. */
  readonly lacking: number;
}

export interface SyncRequest {
  readonly run: string;
  /** Where the job goes; as the run was started when null. */
  readonly jobsDir: string | null;
  readonly verify: boolean;
}

/**
 * Mirrors a run of the account into a jobs folder here, from any machine with the account. Throws
 * `BenchError`: `usage` for a run that is not there or whose job someone works on here, `unavailable`
 * when the account or the disk fails.
 */
export async function syncRun(
  request: SyncRequest,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SyncedRun> {
  const layout = new RunLayout(request.run);
  const { s3, stack } = await openCloudAccount(env);
  const objects = new S3ObjectStore(s3, stack.OutBucket);
  const run = await readRun(objects, layout);
  if (run === null) {
    throw new BenchError("usage", `there is no run ${layout.run} in this account and region`, {
      next: "`bench run --env fargate` prints the name of the run that it starts",
    });
  }
  const { plan, repeat, job_name: jobName } = run;
  const planned = plan.jobs.find((each) => each.repeat === repeat);
  const jobsDir = request.jobsDir ?? planned?.jobsDir ?? plan.settings.jobsDir;
  const store = new FileJobStore(jobsDir);
  await store.checkWritable(jobsDir);
  const evaluation = await readObject(objects, layout.jobFile("evaluation.json"));
  if (evaluation === null) {
    throw new BenchError("unavailable", `${layout.jobFile("evaluation.json")} is gone`, {
      next: "run the same command again; when it stays so, the run's data is damaged",
    });
  }
  const isThere = (await store.jobNames(jobsDir)).includes(jobName);
  const folder = await store.openJob({
    jobsDir,
    jobName,
    mode: isThere ? "resume" : "new",
    evaluation: new TextDecoder().decode(evaluation),
  });
  try {
    const synced = await syncJob(objects, layout, folder.dir, { verify: request.verify });
    const lacking = await writeSyncedFiles(run, folder, store);
    return { ...synced, jobDir: folder.dir, planned: run.rollouts.length, lacking };
  } finally {
    await folder.close();
  }
}
