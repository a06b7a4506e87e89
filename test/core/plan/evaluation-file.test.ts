import { expect, test } from "vitest";
import { Evaluation } from "../../../core/model/evaluation.ts";
import { evaluationFile } from "../../../core/plan/evaluation-file.ts";
import { planRun } from "../../../core/plan/plan-run.ts";
import { aRequest, aTask, anEarlierJob, digestOf, ended, someSettings } from "./plan-builders.ts";

const CREATED = new Date("2026-11-04T17:24:21.000Z");

function evaluationOf(request = aRequest()): string {
  const plan = planRun(request);
  const [job] = plan.jobs;
  if (job === undefined) throw new Error("no job");
  return evaluationFile(plan, job, CREATED);
}

test("evaluation.json holds the contract's settings and what a resume needs", () => {
  const settings = someSettings({ include: ["b*", "a*"], retryAttempts: 1, concurrency: 9 });
  const prebuilt = aTask("beta", { image: { kind: "prebuilt", reference: "debian:12" } });
  const tasks = [aTask("alpha"), prebuilt];
  const file = JSON.parse(evaluationOf(aRequest({ settings, tasks })));
  expect(file).toMatchObject({
    kind: "benchflow.evaluation",
    schema_version: 1,
    tasks_dir: "tasks",
    config: {
      agent: "oracle",
      model: null,
      concurrency: 9,
      include_tasks: ["a*", "b*"],
      agent_env_keys: [],
      retry: { max_retries: 1 },
      agent_idle_timeout: 600,
    },
    settings: { agent: "oracle", retry_attempts: 1 },
    tasks: [
      { name: "alpha", digest: digestOf("alpha"), context_digest: digestOf("context") },
      { name: "beta", digest: digestOf("beta"), context_digest: null },
    ],
    created_at_utc: "2026-11-04T17:24:21.000Z",
  });
});

test("evaluation.json reads back, and its settings give its digest again", () => {
  const request = aRequest();
  const evaluation = Evaluation.parse(JSON.parse(evaluationOf(request)));
  expect(evaluation.settings_digest).toBe(request.settingsDigest);
  const job = { ...anEarlierJob([ended("alpha"), ended("beta")]), evaluation };
  const plan = planRun({ ...request, earlier: [job] });
  expect(plan.jobs[0]?.resumed).toBe(true);
  expect(plan.forecast.toRun).toBe(0);
});

test("evaluation.json of the same command is the same bytes, so that a resume rewrites nothing", () => {
  const first = evaluationOf();
  const resumed = aRequest({ earlier: [anEarlierJob([ended("alpha")])] });
  expect(evaluationOf(resumed)).toBe(first);
  expect(evaluationOf(aRequest({ tasks: [aTask("beta"), aTask("alpha")] }))).toBe(first);
});

test("an evaluation.json from before contexts were recorded reads with unknown ones", () => {
  const file = JSON.parse(evaluationOf());
  for (const task of file.tasks) delete task.context_digest;
  const tasks = Evaluation.parse(file).tasks;
  expect(tasks?.map((task) => task.context_digest)).toEqual([null, null]);
});

test("a first start that is no time reads as unknown, and the job stays resumable", () => {
  const file = { ...JSON.parse(evaluationOf()), created_at_utc: "yesterday" };
  expect(Evaluation.parse(file).created_at_utc).toBeNull();
});
