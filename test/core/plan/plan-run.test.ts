import { describe, expect, test } from "vitest";
import { RunPlan } from "../../../core/model/plan.ts";
import { explainPlan, forecastLine } from "../../../core/plan/explain.ts";
import { planRun } from "../../../core/plan/plan-run.ts";
import {
  aRequest,
  aTask,
  anEarlierJob,
  digestOf,
  ended,
  scored,
  someSettings,
  startedBy,
  unfinished,
  unscored,
} from "./plan-builders.ts";

describe("a plan", () => {
  test("tries every task once before any task twice", () => {
    const settings = someSettings({ trials: 2, agent: "oracle", jobsDir: "jobs/x" });
    const plan = planRun(aRequest({ settings, tasks: [aTask("beta"), aTask("alpha")] }));
    expect(startedBy(plan)).toEqual(["1/alpha", "1/beta", "2/alpha", "2/beta"]);
    expect(plan.jobs.map(({ jobsDir }) => jobsDir)).toEqual([
      "jobs/x/oracle/trial-01",
      "jobs/x/oracle/trial-02",
    ]);
  });

  test("starts the tasks in an order that only --shuffle changes, the same in every repeat", () => {
    const tasks = ["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => aTask(name));
    const settings = someSettings({ shuffleSeed: 7, trials: 2 });
    expect(startedBy(planRun(aRequest({ settings, tasks }))).join(" ")).toBe(
      "1/c 1/h 1/b 1/f 1/e 1/d 1/g 1/a 2/c 2/h 2/b 2/f 2/e 2/d 2/g 2/a",
    );
  });

  test("of the same command keeps what is scored and starts the rest in the same job", () => {
    const earlier = [anEarlierJob([ended("alpha"), unfinished("beta")])];
    const plan = planRun(aRequest({ earlier }));
    expect(plan.jobs[0]).toMatchObject({ jobName: "2026-11-04__18-24-21", resumed: true });
    expect(startedBy(plan)).toEqual(["1/beta"]);
    expect(plan.forecast).toEqual({ planned: 2, kept: 1, verifyOnly: 0, toRun: 1, blocked: 0 });
    expect(forecastLine(plan)).toBe("2 trials: 1 kept, 0 to verify again, 1 to run");
    expect(plan.warnings).toEqual([]);
  });

  test("resumes each repeat on its own", () => {
    const settings = someSettings({ trials: 2 });
    const earlier = [
      anEarlierJob([ended("alpha"), ended("beta")], { jobsDir: "jobs/oracle/trial-01" }),
      anEarlierJob([ended("alpha")], { jobsDir: "jobs/oracle/trial-02" }),
    ];
    const plan = planRun(aRequest({ settings, earlier }));
    expect(startedBy(plan)).toEqual(["2/beta"]);
  });

  test("runs only the task that changed, and says which digest it had", () => {
    const earlier = [anEarlierJob([ended("alpha"), ended("beta")])];
    const tasks = [aTask("alpha"), aTask("beta", { digest: digestOf("beta, fixed") })];
    const plan = planRun(aRequest({ earlier, tasks }));
    expect(startedBy(plan)).toEqual(["1/beta"]);
    expect(plan.jobs[0]?.trials[1]?.why).toMatch(
      /^the task changed since beta__00000001: sha256:/u,
    );
  });

  test("adds a task to a job, and keeps scores that are not selected now", () => {
    const earlier = [
      anEarlierJob([
        ended("alpha"),
        ended("zeta", { outcome: scored(0.5) }),
        ended("unlucky", { outcome: unscored() }),
      ]),
    ];
    const plan = planRun(aRequest({ earlier, tasks: [aTask("alpha"), aTask("new")] }));
    expect(plan.jobs[0]?.trials.map(({ taskName, action }) => [taskName, action])).toEqual([
      ["alpha", "keep"],
      ["new", "run"],
      ["zeta", "keep"],
    ]);
    expect(plan.jobs[0]?.trials[2]?.why).toBe("scored 0.5 in zeta__00000001; not selected now");
  });

  test("reports results of other settings in the job that it resumes, and counts none of them", () => {
    const earlier = [
      anEarlierJob([ended("alpha", { settingsDigest: "sha256:other" }), ended("beta")]),
    ];
    const plan = planRun(aRequest({ earlier }));
    expect(startedBy(plan)).toEqual(["1/alpha"]);
    expect(plan.warnings).toEqual([
      "job jobs/2026-11-04__18-24-21 holds 1 results of other settings, such as alpha__00000001",
    ]);
  });

  test("is data that crosses a process as it is", () => {
    const plan = planRun(aRequest({ earlier: [anEarlierJob([ended("alpha")])] }));
    expect(RunPlan.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });

  test("explains each trial in a row, and each skipped task", () => {
    const skipped = [{ name: "gamma", reason: "task.toml:3:1: illegal escape" }];
    const earlier = [anEarlierJob([ended("alpha")])];
    expect(explainPlan(planRun(aRequest({ earlier, skipped })))).toEqual([
      {
        repeat: 1,
        task: "alpha",
        action: "keep",
        attempt: null,
        why: "scored 1 in alpha__00000001",
      },
      { repeat: 1, task: "beta", action: "run", attempt: 1, why: "not started yet" },
      {
        repeat: null,
        task: "gamma",
        action: "skipped",
        attempt: null,
        why: "task.toml:3:1: illegal escape",
      },
    ]);
  });
});
