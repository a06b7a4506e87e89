import { describe, expect, test } from "vitest";
import type { RunSettingsInput } from "../../../core/model/settings.ts";
import { chooseJob } from "../../../core/plan/choose-job.ts";
import type { JobQuestion } from "../../../core/plan/choose-job.ts";
import type { EarlierJob } from "../../../core/plan/earlier-job.ts";
import { CONTROL_FACTS, scoreSettings } from "../../../core/plan/settings-digest.ts";
import {
  anEarlierJob,
  aRecord,
  digestOfSettings,
  ended,
  refusalOf,
  someSettings,
  unscored,
} from "./plan-builders.ts";

const OLD = "2026-11-04__18-24-21";
const NEW = "2026-11-04__19-00-00";

function question(jobs: readonly EarlierJob[], over: Partial<RunSettingsInput> = {}): JobQuestion {
  const settings = someSettings(over);
  return {
    settings,
    score: scoreSettings(settings, CONTROL_FACTS),
    settingsDigest: digestOfSettings(settings),
    jobs,
    newJobName: "2026-11-05__09-00-00",
  };
}

const nop = someSettings({ agent: "nop" });
const STARTED_NEW = { kind: "new", jobName: "2026-11-05__09-00-00", warnings: [] };

describe("the same command", () => {
  test("starts a job where there is none", () => {
    expect(chooseJob(question([]))).toEqual(STARTED_NEW);
  });

  test("goes on with the newest job by name, in whatever order the folders are listed", () => {
    const [old, recent] = [OLD, NEW].map((jobName) => anEarlierJob([], { jobName }));
    for (const jobs of [
      [old, recent],
      [recent, old],
    ]) {
      const choice = chooseJob(question(jobs.flatMap((job) => job ?? [])));
      expect(choice).toEqual({ kind: "resume", job: recent, warnings: [] });
    }
  });

  test("goes on with its own job although another command ran there since", () => {
    const own = anEarlierJob([], { jobName: OLD });
    const other = anEarlierJob([], { jobName: NEW, settings: nop });
    expect(chooseJob(question([own, other]))).toMatchObject({ kind: "resume", job: own });
  });

  test("with --fresh starts a new job", () => {
    expect(chooseJob(question([anEarlierJob([])], { fresh: true }))).toEqual(STARTED_NEW);
  });

  test("never takes a folder that is not named as a job for one", () => {
    const jobs = ["worker-shards", "notes", "zz"].map((jobName) => anEarlierJob([], { jobName }));
    expect(chooseJob(question(jobs))).toEqual(STARTED_NEW);
  });

  test("finds its job by the results alone when evaluation.json is lost", () => {
    const job = anEarlierJob([ended("alpha")], { evaluation: null });
    expect(chooseJob(question([job]))).toMatchObject({ kind: "resume", job });
    const mixed = [ended("alpha"), ended("beta", { settingsDigest: "sha256:other" })];
    expect(chooseJob(question([anEarlierJob(mixed, { evaluation: null })]))).toMatchObject({
      kind: "new",
      warnings: [expect.stringContaining("does not say with which settings")],
    });
  });

  test("takes ./tasks/ and tasks for the same folder", () => {
    const job = anEarlierJob([], { settings: someSettings({ tasksDir: "./tasks/" }) });
    expect(chooseJob(question([job]))).toMatchObject({ kind: "resume" });
  });
});

describe("another command in the same jobs folder", () => {
  test("starts a new job and names the one that it does not resume, and why", () => {
    const job = anEarlierJob([ended("alpha")], { settings: nop });
    expect(chooseJob(question([job], { timeoutMultiplier: 2 }))).toEqual({
      ...STARTED_NEW,
      warnings: [
        `job jobs/${OLD} is not resumed: it was run with other settings ` +
          '(agent: "nop" -> "oracle"; timeout_multiplier: 1 -> 2); a new job starts',
      ],
    });
  });

  test("on other tasks starts a new job, even under equal settings", () => {
    const job = anEarlierJob([ended("alpha")], {
      settings: someSettings({ tasksDir: "elsewhere" }),
    });
    expect(chooseJob(question([job]))).toMatchObject({
      kind: "new",
      warnings: [expect.stringContaining("it ran the tasks of elsewhere")],
    });
  });

  test("leaves a job of BenchFlow's own alone: nothing says with which settings it ran", () => {
    const attempts = [ended("alpha", { attempt: null, settingsDigest: null })];
    expect(chooseJob(question([anEarlierJob(attempts, { evaluation: null })]))).toMatchObject({
      kind: "new",
    });
  });
});

describe("a job that money was spent on", () => {
  const paid = { ...aRecord("alpha").usage, costUsd: 0.5, totalTokens: 12_345 };
  const unfinishedJob = anEarlierJob(
    [
      ended("alpha", { usage: paid }),
      ended("beta", { usage: paid, outcome: unscored() }),
      ended("gamma", { usage: { ...paid, costUsd: null, totalTokens: null } }),
    ],
    { settings: nop },
  );

  test("is not left behind unfinished: exit 2 with the settings, the spend and the cost of again", () => {
    const refusal = refusalOf(() => chooseJob(question([unfinishedJob])));
    expect(refusal.kind).toBe("usage");
    expect(refusal.message).toBe(
      `job jobs/${OLD} is unfinished (2 of 3 trials scored, $1.00 and 24,690 tokens spent) and ` +
        'it was run with other settings (agent: "nop" -> "oracle")',
    );
    expect(refusal.next).toBe(
      "give those settings again to resume it, or pass --fresh to start over (about $1.00 for all of it)",
    );
  });

  test("is left behind with --fresh, or under other tasks, or once it is finished", () => {
    expect(chooseJob(question([unfinishedJob], { fresh: true }))).toEqual(STARTED_NEW);
    expect(chooseJob(question([unfinishedJob], { tasksDir: "other" })).kind).toBe("new");
    const finished = anEarlierJob([ended("alpha", { usage: paid })], { settings: nop });
    expect(chooseJob(question([finished])).kind).toBe("new");
  });

  test("counts tokens alone as spent, and what was never started as unfinished", () => {
    const job = anEarlierJob([ended("alpha", { usage: { ...paid, costUsd: null } })], {
      settings: nop,
    });
    job.evaluation?.tasks?.push({ name: "never", digest: "sha256:1", context_digest: null });
    const refusal = refusalOf(() => chooseJob(question([job])));
    expect(refusal.message).toContain("1 of 2 trials scored, 12,345 tokens spent");
    expect(refusal.next).not.toContain("about");
  });
});

describe("--job-name", () => {
  const named = { jobName: "nightly" };

  test("starts that job when there is none, and resumes it when there is", () => {
    expect(chooseJob(question([], named))).toEqual({
      kind: "new",
      jobName: "nightly",
      warnings: [],
    });
    const job = anEarlierJob([ended("alpha")], named);
    expect(chooseJob(question([job], named))).toEqual({ kind: "resume", job, warnings: [] });
  });

  test("takes over an empty folder and no folder of other files", () => {
    const empty = anEarlierJob([], { ...named, evaluation: null });
    expect(chooseJob(question([empty], named))).toMatchObject({ kind: "resume" });
    const refusal = refusalOf(() => chooseJob(question([{ ...empty, foreign: true }], named)));
    expect(refusal.message).toBe("job jobs/nightly is a folder of other files, not a job");
  });

  test("never mixes settings in one job, whatever was spent", () => {
    const job = anEarlierJob([ended("alpha")], { ...named, settings: nop });
    const refusal = refusalOf(() => chooseJob(question([job], named)));
    expect([refusal.kind, refusal.message]).toEqual([
      "usage",
      'job jobs/nightly cannot be resumed: it was run with other settings (agent: "nop" -> "oracle")',
    ]);
  });

  test("with --fresh never empties or reuses a job", () => {
    const job = anEarlierJob([ended("alpha")], named);
    expect(refusalOf(() => chooseJob(question([job], { ...named, fresh: true }))).message).toBe(
      "job jobs/nightly exists, and --fresh starts a new job",
    );
  });

  test("of a job of other tasks is resumed with a warning: digests keep the trials apart", () => {
    const settings = someSettings({ tasksDir: "elsewhere" });
    expect(chooseJob(question([anEarlierJob([], { ...named, settings })], named))).toMatchObject({
      kind: "resume",
      warnings: ["job jobs/nightly ran the tasks of elsewhere before"],
    });
  });
});
