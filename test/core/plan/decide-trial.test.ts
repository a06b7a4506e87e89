import { describe, expect, test } from "vitest";
import type { TrialRecord } from "../../../core/model/record.ts";
import { decideTrial } from "../../../core/plan/decide-trial.ts";
import type { EarlierAttempt } from "../../../core/plan/earlier-job.ts";
import { standingRecord } from "../../../core/plan/standing-record.ts";
import {
  aRecord,
  digestOf,
  digestOfSettings,
  ended,
  scored,
  someSettings,
  unfinished,
  unscored,
} from "./plan-builders.ts";

const decide = (...attempts: EarlierAttempt[]): ReturnType<typeof decideTrial> =>
  decideTrial({
    taskName: "alpha",
    taskDigest: digestOf("alpha"),
    contextDigest: digestOf("context"),
    settingsDigest: digestOfSettings(someSettings()),
    attempts,
  });

const quarantined = (
  doubtful: Extract<EarlierAttempt, { kind: "quarantined" }>["doubtful"],
): EarlierAttempt => ({
  kind: "quarantined",
  taskName: "alpha",
  rolloutName: "alpha__0000000a",
  reason: "result.json is torn",
  doubtful,
});

const unnumbered = (rolloutName: string, startedAt: string): TrialRecord =>
  aRecord("alpha", { attempt: null, rolloutName, startedAt });

describe("a trial", () => {
  test("that never started is run as attempt 1", () => {
    expect(decide().trial).toMatchObject({ action: "run", attempt: 1, why: "not started yet" });
  });

  test("with a score is kept, whatever else was attempted before or after", () => {
    const decision = decide(
      ended("alpha", { attempt: 1, outcome: unscored() }),
      ended("alpha", { attempt: 2, outcome: scored(0) }),
      unfinished("alpha"),
    );
    expect(decision.trial).toMatchObject({
      action: "keep",
      rolloutName: "alpha__00000002",
      why: "scored 0 in alpha__00000002",
    });
  });

  test("with a score of 0 beside an agent error is kept: a reward is final", () => {
    const error = { category: "timeout", message: "exceeded" } as const;
    expect(decide(ended("alpha", { outcome: scored(0), error })).trial.action).toBe("keep");
  });

  test("without a score is run again, even after a verifier error that is never retried", () => {
    const outcome = unscored({ fault: "task", category: "verifier_failure", detail: "rc=3" });
    const { trial } = decide(ended("alpha", { outcome }));
    expect(trial).toMatchObject({ action: "run", attempt: 2, rolloutName: null });
    expect(trial.why).toBe("unscored in alpha__00000001: verifier_failure (task), rc=3");
  });

  test("whose work is saved without a verdict is only verified again", () => {
    const outcome = unscored({ category: "verifier_timeout", fault: "task", verifyOnly: true });
    const { trial } = decide(ended("alpha", { outcome, workspaceSaved: true }));
    expect(trial).toMatchObject({
      action: "verify-only",
      rolloutName: "alpha__00000001",
      attempt: 2,
    });
  });

  test("whose saved work was refused says so, with the flag that helps", () => {
    const outcome = unscored({ category: "verifier_timeout", fault: "task", verifyOnly: true });
    const verification = {
      verify_only_from: "alpha__00000001",
      refused: true,
      failures: 1,
      works_on_nop: null,
    };
    const { trial } = decide(
      ended("alpha", { attempt: 1, outcome, workspaceSaved: true }),
      ended("alpha", { attempt: 2, outcome: unscored({ category: "other" }), verification }),
    );
    expect(trial).toMatchObject({ action: "verify-only", attempt: 3, verifierFailures: 1 });
    expect(trial.why).toBe(
      "the work of alpha__00000001 is saved and has no verdict, but alpha__00000002 could not verify it again; only --fresh starts over",
    );
  });

  test("whose work was not saved is run again although only its verifier failed", () => {
    const outcome = unscored({ category: "verifier_timeout", fault: "task", verifyOnly: true });
    expect(decide(ended("alpha", { outcome })).trial.action).toBe("run");
  });

  test("is verified on its first saved work, not on a later draw", () => {
    const outcome = unscored({ verifyOnly: true });
    const { trial } = decide(
      ended("alpha", { attempt: 2, outcome, workspaceSaved: true }),
      ended("alpha", { attempt: 1, outcome, workspaceSaved: true }),
      ended("alpha", { attempt: 3, outcome: unscored() }),
    );
    expect(trial).toMatchObject({
      action: "verify-only",
      rolloutName: "alpha__00000001",
      attempt: 4,
    });
  });

  test("that was started and never ended is run again under the next number", () => {
    const { trial } = decide(unfinished("alpha", "0000000b"), unfinished("alpha", "0000000c"));
    expect(trial).toMatchObject({ action: "run", attempt: 3 });
    expect(trial.why).toBe("alpha__0000000b was started and did not end");
  });

  test("of a changed task is run again and says so; the old score is not its own", () => {
    const taskDigest = digestOf("alpha before");
    const { trial } = decide(ended("alpha", { taskDigest }));
    expect(trial).toMatchObject({ action: "run", attempt: 2 });
    expect(trial.why).toContain("the task changed since alpha__00000001");
  });

  test("whose build context changed is run again and says so: the task's digest sees no modes", () => {
    const contextDigest = digestOf("context before");
    const { trial } = decide(ended("alpha", { contextDigest }));
    expect(trial).toMatchObject({
      action: "run",
      attempt: 2,
      contextDigest: digestOf("context"),
      why: `its build context changed since alpha__00000001: ${contextDigest.slice(0, 15)} -> ${digestOf("context").slice(0, 15)}`,
    });
  });

  test("keeps a score of a file that does not say which context it measured", () => {
    expect(decide(ended("alpha", { contextDigest: null })).trial.action).toBe("keep");
  });

  test("is not verified on work that was done in another context's image", () => {
    const outcome = unscored({ verifyOnly: true });
    const contextDigest = digestOf("context before");
    const saved = { outcome, workspaceSaved: true };
    expect(decide(ended("alpha", { ...saved, contextDigest })).trial.action).toBe("run");
    expect(decide(ended("alpha", saved)).trial.action).toBe("verify-only");
  });

  test("never takes over a score of other settings", () => {
    const { trial } = decide(ended("alpha", { settingsDigest: "sha256:other" }));
    expect(trial).toMatchObject({
      action: "run",
      why: "alpha__00000001 was run with other settings",
    });
  });

  test("whose result cannot be read is run again, and the file is reported", () => {
    const { trial, warnings } = decide(quarantined(null));
    expect(trial).toMatchObject({ action: "run", attempt: 2 });
    expect(warnings).toEqual(["alpha__0000000a is set aside: result.json is torn"]);
  });

  test("with a score that its seal contradicts is blocked: neither believed nor drawn again", () => {
    const { trial } = decide(quarantined(aRecord("alpha")));
    expect(trial).toMatchObject({ action: "blocked", rolloutName: "alpha__0000000a" });
    const old = aRecord("alpha", { taskDigest: digestOf("alpha before") });
    expect(decide(quarantined(old)).trial.action).toBe("run");
    expect(decide(quarantined(aRecord("alpha", { outcome: unscored() }))).trial.action).toBe("run");
  });

  test("scored twice keeps the first by attempt number and reports the second", () => {
    const { trial, warnings } = decide(
      ended("alpha", { attempt: 2, outcome: scored(1) }),
      ended("alpha", { attempt: 1, outcome: scored(0) }),
    );
    expect(trial).toMatchObject({ action: "keep", rolloutName: "alpha__00000001" });
    expect(warnings).toEqual([
      "alpha was scored twice: alpha__00000001 counts, alpha__00000002 does not",
    ]);
  });

  test("gets a number above every one that was used, readable or not", () => {
    expect(decide(ended("alpha", { attempt: 7, outcome: unscored() })).trial.attempt).toBe(8);
    expect(
      decide(quarantined(null), unfinished("alpha"), ended("alpha", { outcome: unscored() })).trial
        .attempt,
    ).toBe(4);
  });
});

describe("the standing record", () => {
  test("of BenchFlow's results without numbers goes by start, then by name", () => {
    const first = unnumbered("alpha__ffffffff", "2026-11-30 04:41:13.133712");
    const twin = unnumbered("alpha__eeeeeeee", "2026-11-30 04:41:13.133712");
    const later = unnumbered("alpha__00000000", "2026-11-30 04:41:14.000000");
    expect(standingRecord([later, first, twin])).toEqual({
      record: twin,
      duplicates: [first, later],
    });
  });

  test("of ours goes by attempt number, whatever random names the folders got", () => {
    const first = aRecord("alpha", { attempt: 1, rolloutName: "alpha__ffffffff" });
    const second = aRecord("alpha", { attempt: 2, rolloutName: "alpha__00000000" });
    expect(standingRecord([second, first])).toEqual({ record: first, duplicates: [second] });
  });

  test("of attempts without any score is the last one, and of none there is none", () => {
    const last = aRecord("alpha", { attempt: 10, outcome: unscored() });
    const records = [last, aRecord("alpha", { attempt: 9, outcome: unscored() })];
    expect(standingRecord(records)).toEqual({ record: last, duplicates: [] });
    expect(standingRecord([])).toEqual({ record: null, duplicates: [] });
  });
});
