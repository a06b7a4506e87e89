import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EarlierAttempt } from "../../../core/plan/earlier-job.ts";
import { planRun } from "../../../core/plan/plan-run.ts";
import type { PlanRequest } from "../../../core/plan/plan-run.ts";
import {
  aRecord,
  aRequest,
  aTask,
  anEarlierJob,
  digestOf,
  ended,
  scored,
  someSettings,
  startedBy,
  unscored,
} from "./plan-builders.ts";

describe("properties", () => {
  const names = ["a", "b", "c", "d"];
  const attempt = fc
    .record({
      name: fc.constantFrom(...names, "elsewhere"),
      number: fc.integer({ min: 1, max: 5 }),
      kind: fc.constantFrom(
        "scored",
        "unscored",
        "verify",
        "unfinished",
        "torn",
        "other-task",
        "other-context",
      ),
      reward: fc.constantFrom(0, 0.5, 1),
    })
    .map(({ name, number, kind, reward }): EarlierAttempt => {
      const rolloutName = `${name}__${number.toString(16).padStart(8, "0")}`;
      const own = { attempt: number, rolloutName };
      if (kind === "scored") return ended(name, { ...own, outcome: scored(reward) });
      if (kind === "unscored") return ended(name, { ...own, outcome: unscored() });
      if (kind === "verify") {
        const outcome = unscored({ verifyOnly: true });
        return ended(name, { ...own, outcome, workspaceSaved: true });
      }
      if (kind === "other-context") return ended(name, { ...own, contextDigest: digestOf("old") });
      if (kind === "other-task") return ended(name, { ...own, taskDigest: digestOf("old") });
      if (kind === "unfinished") return { kind: "unfinished", rolloutName, taskName: name };
      return { kind: "quarantined", rolloutName, taskName: name, reason: "torn", doubtful: null };
    });
  const attempts = fc.uniqueArray(attempt, { selector: ({ rolloutName }) => rolloutName });
  const request = fc
    .record({ trials: fc.integer({ min: 1, max: 3 }), first: attempts, second: attempts })
    .map(({ trials, first, second }): PlanRequest => {
      const settings = someSettings({ trials });
      const dirs = trials === 1 ? ["jobs"] : ["jobs/oracle/trial-01", "jobs/oracle/trial-02"];
      const found = [first, second];
      return aRequest({
        settings,
        tasks: names.map((name) => aTask(name)),
        earlier: dirs.map((jobsDir, index) => anEarlierJob(found[index] ?? [], { jobsDir })),
      });
    });

  test("every selected trial is in the plan exactly once, and the counts add up", () => {
    fc.assert(
      fc.property(request, (given) => {
        const plan = planRun(given);
        for (const { trials } of plan.jobs) {
          const planned = trials.map(({ taskName }) => taskName);
          expect(new Set(planned).size).toBe(planned.length);
          expect(planned.slice(0, names.length)).toEqual(names);
        }
        const { planned, kept, verifyOnly, toRun, blocked } = plan.forecast;
        expect(kept + verifyOnly + toRun + blocked).toBe(planned);
        expect(planned).toBe(plan.jobs.flatMap(({ trials }) => trials).length);
      }),
    );
  });

  test("no order in which tasks, jobs or attempts are found changes the plan", () => {
    fc.assert(
      fc.property(request, (given) => {
        const shuffled = {
          ...given,
          tasks: given.tasks.toReversed(),
          earlier: given.earlier
            .map((job) => ({ ...job, attempts: job.attempts?.toReversed() ?? null }))
            .toReversed(),
        };
        expect(planRun(shuffled)).toEqual(planRun(given));
      }),
    );
  });

  test("a trial with a score is never started again", () => {
    fc.assert(
      fc.property(request, (given) => {
        const plan = planRun(given);
        for (const job of plan.jobs) {
          const earlier = given.earlier.find(({ jobsDir }) => jobsDir === job.jobsDir);
          for (const trial of job.trials) {
            const hasScore = (earlier?.attempts ?? []).some(
              (found) =>
                found.kind === "ended" &&
                found.record.outcome.kind === "scored" &&
                found.taskName === trial.taskName &&
                found.record.taskDigest === trial.taskDigest &&
                found.record.contextDigest === trial.contextDigest,
            );
            expect(trial.action === "keep").toBe(hasScore);
          }
        }
      }),
    );
  });

  test("after every started trial was scored, the same command starts nothing", () => {
    fc.assert(
      fc.property(request, (given) => {
        const plan = planRun(given);
        const earlier = plan.jobs.map((job) => {
          const found = given.earlier.find(({ jobsDir }) => jobsDir === job.jobsDir);
          const ran = job.trials
            .filter(({ action }) => action !== "keep")
            .map(({ taskName, attempt: number }): EarlierAttempt => {
              const record = aRecord(taskName, {
                attempt: number,
                rolloutName: `${taskName}__${number.toString(16).padStart(8, "e")}`,
              });
              return { kind: "ended", taskName, rolloutName: record.rolloutName, record };
            });
          return anEarlierJob([...(found?.attempts ?? []), ...ran], {
            jobsDir: job.jobsDir,
            jobName: job.resumed ? job.jobName : given.newJobName,
          });
        });
        const again = planRun({ ...given, earlier, newJobName: "2026-11-06__00-00-00" });
        expect(startedBy(again)).toEqual([]);
        expect(again.jobs.every(({ resumed }) => resumed)).toBe(true);
        expect(again.forecast.kept).toBe(plan.forecast.planned);
      }),
    );
  });

  test("an attempt's number is above every number its trial had", () => {
    fc.assert(
      fc.property(request, (given) => {
        for (const job of planRun(given).jobs) {
          const earlier = given.earlier.find(({ jobsDir }) => jobsDir === job.jobsDir);
          for (const trial of job.trials) {
            const own = (earlier?.attempts ?? []).filter(
              ({ taskName }) => taskName === trial.taskName,
            );
            const used = own.map((found) =>
              found.kind === "ended" ? (found.record.attempt ?? 0) : 0,
            );
            expect(trial.attempt).toBe(Math.max(own.length, ...used, 0) + 1);
          }
        }
      }),
    );
  });
});
