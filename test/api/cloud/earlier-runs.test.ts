import { afterEach, expect, test } from "vitest";
import { endedRuns } from "../../../api/cloud/earlier-runs.ts";
import { RunSettings } from "../../../core/model/settings.ts";
import { bodyOfBytes } from "../../../stores/objects/object-body.ts";
import { RunLayout } from "../../../stores/objects/run-layout.ts";
import { fakeAws } from "../../fakes/fake-aws.ts";
import { MemoryObjects } from "../../fakes/memory-objects.ts";

const SETTINGS = RunSettings.parse({ tasksDir: "tasks", agent: "oracle", environment: "fargate" });
const JOB = { job_name: "nightly", repeat: 1, settingsDigest: "digest" };
let close = (): void => undefined;
afterEach(() => {
  close();
});

/** An account with these runs, each of the job `nightly` unless it says otherwise, on pages of one. */
async function accountWith(
  runs: readonly { name: string; status: string; of?: Partial<typeof JOB> }[],
) {
  const objects = new MemoryObjects();
  for (const { name, of = {} } of runs) {
    const job = { ...JOB, ...of };
    const plan = {
      settings: SETTINGS,
      settingsDigest: job.settingsDigest,
      scoreSettings: {},
      tasks: [],
      skipped: [],
      jobs: [],
      forecast: { planned: 0, kept: 0, verifyOnly: 0, toRun: 0, blocked: 0 },
      warnings: [],
    };
    const run = {
      schema_version: 1,
      run: name,
      owner: "me",
      created_at_utc: "2026-11-30T00:00:00.000Z",
      job_name: job.job_name,
      plan,
      repeat: job.repeat,
      rollouts: [],
    };
    await objects.create(new RunLayout(name).plan, bodyOfBytes(JSON.stringify(run)));
  }
  const aws = await fakeAws({
    ListExecutions: ({ nextToken = "0" }) => {
      const at = Number(nextToken);
      const executions = runs
        .slice(at, at + 1)
        .map(({ name, status }) => ({ name, status, executionArn: `arn:${name}` }));
      return { executions, ...(at + 1 < runs.length ? { nextToken: String(at + 1) } : {}) };
    },
  });
  ({ close } = aws);
  return { account: aws.account, objects };
}

test("a run of the same job that goes on is refused by name, also on a later page", async () => {
  const { account, objects } = await accountWith([
    { name: "nightly-00000001", status: "FAILED" },
    { name: "nightly-00000002", status: "RUNNING" },
  ]);
  await expect(endedRuns(account, objects, JOB)).rejects.toMatchObject({
    kind: "usage",
    message: "run nightly-00000002 of this job still goes on in the account",
    next: expect.stringMatching(/bench sync nightly-00000002.*arn:nightly-00000002/u),
  });
});

test("runs of other jobs, repeats and measurements hinder nobody; ended ones of the job are named", async () => {
  const { account, objects } = await accountWith([
    { name: "other-00000001", status: "RUNNING", of: { job_name: "other" } },
    { name: "nightly-two-00000001", status: "RUNNING", of: { job_name: "nightly-two" } },
    { name: "nightly-00000003", status: "RUNNING", of: { repeat: 2 } },
    { name: "nightly-00000004", status: "RUNNING", of: { settingsDigest: "another" } },
    { name: "nightly-00000005", status: "ABORTED" },
  ]);
  const ended = await endedRuns(account, objects, JOB);
  expect(ended.map(({ run }) => run)).toEqual(["nightly-00000005"]);
});
