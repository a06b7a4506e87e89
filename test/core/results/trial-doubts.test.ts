import { expect, test } from "vitest";
import type { Hardening, Verification } from "../../../core/model/trial.ts";
import type { TrialRecord } from "../../../core/model/record.ts";
import { renderDoubts } from "../../../core/report/console/doubt-lines.ts";
import { renderJobLines } from "../../../core/report/console/job-lines.ts";
import { groupTrials } from "../../../core/results/group-trials.ts";
import { toLoadedJob } from "../../../core/results/loaded-job.ts";
import { summarizeRun } from "../../../core/results/summarize-run.ts";
import { aRecord, onImage, type RecordWish } from "./a-record.ts";
import { summarize } from "./a-summary.ts";

const CLEAN: Hardening = {
  integrity: "clean",
  suspects: [],
  more_suspects: 0,
  changed_configs: [],
  removed: 0,
  not_done: [],
};
const VERIFIED: Verification = {
  verify_only_from: null,
  refused: false,
  failures: 0,
  works_on_nop: null,
};

function hardened(hardening: Partial<Hardening>, wish: RecordWish = {}): TrialRecord {
  const isolation = { ...onImage(null), hardening: { ...CLEAN, ...hardening } };
  return aRecord({ ...wish, isolation });
}

function verified(verification: Partial<Verification>, wish: RecordWish = {}): TrialRecord {
  return aRecord({ ...wish, verification: { ...VERIFIED, ...verification } });
}

const SUSPECT: Partial<Hardening> = {
  integrity: "suspect",
  suspects: ["/app/json.py stands in for python's json", "/app/re.py stands in for python's re"],
  more_suspects: 3,
};

/** A trial that the verifier gave no verdict on. */
const NO_VERDICT: RecordWish = {
  unscored: "verifier_timeout",
  verifierError: { category: "verifier_timeout", message: "verifier timed out after 5.0s" },
};

/** What `bench results` notes of a job with these attempts. */
function notesOf(records: readonly TrialRecord[], recovered: readonly string[] = []): string[] {
  const job = toLoadedJob({
    path: "jobs/one",
    jobName: "one",
    alias: null,
    repeat: null,
    planned: null,
    asked: null,
    records,
    interrupted: [],
    quarantined: [],
    recovered,
    files: new Map(),
    summary: null,
  });
  return renderDoubts(job);
}

test("a job whose model was a script is told to have no model's score", () => {
  const scripted = [aRecord({ model: "scripted/solve.json", reward: 1 })];
  expect(notesOf(scripted)).toEqual([
    expect.stringContaining("ran with a script in the place of a model: its score is no model's"),
  ]);
  expect(summarize(scripted).solve_rates.caveats).toContain(
    "a script answered in the place of a model",
  );
  expect(notesOf([aRecord({ reward: 1 })])).toEqual([]);
});

test("suspect trials are counted and named in the summaries, and their scores stay", () => {
  const records = [
    hardened(SUSPECT, { taskName: "b", reward: 1 }),
    hardened({}, { taskName: "a", reward: 1 }),
    hardened({ integrity: "partly watched" }, { taskName: "c", reward: 0 }),
    aRecord({ taskName: "d" }),
  ];
  const summary = summarize(records);
  expect(summary).toMatchObject({ suspect: 1, passed: 3, total: 4, mean_reward: 0.75 });
  expect(summary.suspects).toEqual([
    {
      task_name: "b",
      rollout_name: "b__00000001",
      suspects: SUSPECT.suspects,
      more_suspects: 3,
    },
  ]);
  const job = { jobDir: "jobs/one", jobName: "one", repeat: 1, reused: 0, ran: 4 };
  const gate = { fail_on: [], fail_under: null, failed: [] };
  const run = summarizeRun([{ ...job, trials: groupTrials(records, null) }], {
    runName: "one",
    gate,
    exitCode: 0,
  });
  expect([run.suspect, run.jobs[0]?.suspect, run.passed]).toEqual([1, 1, 3]);
});

test("only the attempt that counts makes a trial suspect", () => {
  const lost = hardened(SUSPECT, { ...NO_VERDICT, attempt: 1 });
  expect(summarize([lost, hardened({}, { attempt: 2 })]).suspect).toBe(0);
  expect(summarize([lost]).suspect).toBe(1);
});

test("the console tells suspects and lost attempts in one line each, and nothing when there are none", () => {
  const quiet = groupTrials([hardened({}), verified({}, { taskName: "b" })], null);
  expect(renderJobLines(quiet, 60)).toHaveLength(1);
  const records = [
    hardened(SUSPECT, { taskName: "a" }),
    verified({ failures: 2 }, { taskName: "b" }),
    verified({ failures: 1 }, { taskName: "c" }),
    verified({ failures: 1 }, { taskName: "d", ...NO_VERDICT }),
  ];
  const lines = renderJobLines(groupTrials(records, null), 60);
  expect(lines).toContain(
    "2 tasks (50%) lost attempts or test runs to their verifier — verification in result.json counts them",
  );
  expect(lines).toContain(
    "1 tasks (25%) are suspect: their agent may have tampered with what judges it — isolation.hardening in result.json says how; no score was changed",
  );
});

test("attempts that a verifier left without a verdict are counted, made up for or not", () => {
  const records = [
    verified({ failures: 1 }, { taskName: "a", attempt: 1, ...NO_VERDICT }),
    verified({ failures: 1 }, { taskName: "a", attempt: 2, reward: 1 }),
    verified({ failures: 1 }, { taskName: "b", ...NO_VERDICT }),
    aRecord({ taskName: "c", unscored: "infra_failure" }),
  ];
  expect(summarize(records).spend.attempts_lost_to_verifier).toBe(2);
});

test("results notes a suspect trial with its first reason and how many more there are", () => {
  expect(notesOf([hardened(SUSPECT)])).toEqual([
    "jobs/one/half-life__00000001 is suspect: /app/json.py stands in for python's json and 4 more; its score was not changed",
  ]);
  expect(notesOf([hardened({}), verified({}, { taskName: "x" })])).toEqual([]);
});

test.each([
  [{ failures: 1 }, {}, "its verifier failed once before it gave this score"],
  [
    { failures: 3, works_on_nop: true },
    NO_VERDICT,
    "its verifier failed 3 times and gave no score; it works on nop's workspace",
  ],
  [
    { failures: 2, works_on_nop: false },
    NO_VERDICT,
    "its verifier failed 2 times and gave no score; it fails on nop's workspace as well",
  ],
  [
    { verify_only_from: "half-life__0000000f", refused: true },
    { unscored: "other" as const },
    "the saved work of half-life__0000000f cannot be verified again; next: the same command with --fresh",
  ],
])("results notes of a trial with %j that %s", (verification, wish, said) => {
  expect(notesOf([verified(verification, wish)])).toEqual([
    `jobs/one/half-life__00000001: ${said}`,
  ]);
});

test("a seal that a later command wrote is said in results", () => {
  expect(notesOf([aRecord()], ["half-life__00000001"])).toEqual([
    "jobs/one/half-life__00000001 was sealed by a later command: its own was killed before it could",
  ]);
});
