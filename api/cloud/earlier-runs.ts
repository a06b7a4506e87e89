import * as z from "zod";
import { awsFailure } from "../../aws/aws-error.ts";
import { BenchError } from "../../core/errors.ts";
import type { CloudRun } from "../../core/model/cloud-work.ts";
import type { ObjectStore } from "../../core/ports/object-store.ts";
import { readRun } from "../../stores/objects/read-run.ts";
import { RunLayout } from "../../stores/objects/run-layout.ts";
import type { CloudAccount } from "./cloud-account.ts";

/** Which job: its name, its repeat, and what it measures. */
export type JobIdentity = Pick<CloudRun, "job_name" | "repeat"> & {
  readonly settingsDigest: string;
};

const Listed = z.object({
  executions: z.array(z.object({ executionArn: z.string(), name: z.string(), status: z.string() })),
  nextToken: z.string().nullish(),
});
type Execution = z.infer<typeof Listed>["executions"][number];

const NAME_CHARACTERS = 50;

/** The first part of the names of a job's runs; eight hexadecimal digits follow. */
export function runPrefix(jobName: string): string {
  return `${jobName.slice(0, NAME_CHARACTERS)}-`;
}

/**
 * Runs of this very job that the account has ended; the service knows those of the last 90 days. Throws
 * `BenchError` (`usage`) when one still goes on: a second one would be paid for the same trials.
 */
export async function endedRuns(
  account: CloudAccount,
  objects: ObjectStore,
  job: JobIdentity,
): Promise<readonly RunLayout[]> {
  const ended: RunLayout[] = [];
  const prefix = runPrefix(job.job_name);
  for await (const { name, status, executionArn } of executions(account)) {
    if (!name.startsWith(prefix) || !/^[0-9a-f]{8}$/u.test(name.slice(prefix.length))) continue;
    const layout = new RunLayout(name);
    if (!(await isOf(job, layout, objects))) continue;
    if (status !== "RUNNING") {
      ended.push(layout);
      continue;
    }
    throw new BenchError("usage", `run ${name} of this job still goes on in the account`, {
      next: `wait for its end, which \`bench sync ${name}\` tells, or stop it with \`aws stepfunctions stop-execution --execution-arn ${executionArn}\`; then run the same command again`,
    });
  }
  return ended;
}

async function isOf(job: JobIdentity, layout: RunLayout, objects: ObjectStore): Promise<boolean> {
  const run = await readRun(objects, layout);
  // Another one's execution in this state machine: a run of ours has its plan before it starts.
  if (run === null) return false;
  return (
    run.job_name === job.job_name &&
    run.repeat === job.repeat &&
    run.plan.settingsDigest === job.settingsDigest
  );
}

async function* executions({ services, stack }: CloudAccount): AsyncGenerator<Execution> {
  let nextToken: string | null | undefined;
  do {
    const input = {
      stateMachineArn: stack.OutSweep,
      maxResults: 1000,
      ...(typeof nextToken === "string" ? { nextToken } : {}),
    };
    const sfn = await services.sfn();
    const answer = await sfn.listExecutions(input).catch((error: unknown) => {
      throw awsFailure(error, "look for runs of this job");
    });
    const page = Listed.parse(answer);
    yield* page.executions;
    ({ nextToken } = page);
  } while (typeof nextToken === "string");
}
