import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatDuration } from "../../../../core/report/console/format-amounts.ts";
import { renderFinalBlock } from "../../../../core/report/console/final-block.ts";
import { renderJobLines } from "../../../../core/report/console/job-lines.ts";
import { showCut, showSafely, widthOf } from "../../../../core/report/console/safe-text.ts";
import { renderTrialLine } from "../../../../core/report/console/trial-line.ts";
import { groupTrials } from "../../../../core/results/group-trials.ts";
import { aRecord } from "../../results/a-record.ts";
import { arbitraryRecord } from "../../results/arbitrary-record.ts";

test("a trial without a score is an error without a reward", () => {
  const message = "verifier crashed: No reward file found at a/verifier/reward.txt";
  const record = aRecord({
    unscored: "verifier_failure",
    toolCalls: 0,
    verifierError: { category: "verifier_failure", message },
  });
  expect(renderTrialLine(record)).toBe(
    "[ERR] half-life (tools=0) (verifier crashed: No reward file found at a/verifi…)",
  );
});

test("an error of exactly 50 characters is shown whole", () => {
  const error = { category: "other", message: "x".repeat(50) } as const;
  expect(renderTrialLine(aRecord({ error }))).toBe(
    `[PASS] half-life (reward=1.00, tools=3) (${"x".repeat(50)})`,
  );
});

test("a trial that was stopped is no error of anyone", () => {
  expect(renderTrialLine(aRecord({ unscored: "interrupted" }))).toBe(
    "[STOP] half-life (tools=3) (interrupted happened)",
  );
});

test("what stopped a trial is told with its figures whole", () => {
  const stopped = aRecord({ unscored: "interrupted" });
  const detail = `${"x".repeat(60)} $0.0346 of a $0.03 cap`;
  const record = { ...stopped, outcome: { ...stopped.outcome, detail }, error: null };
  expect(renderTrialLine(record)).toBe(`[STOP] half-life (tools=3) (${detail})`);
});

test("a reward just below 1 is a fail and not shown as 1.00", () => {
  expect(renderTrialLine(aRecord({ reward: 0.999 }))).toBe(
    "[FAIL] half-life (reward=0.99, tools=3)",
  );
});

test("control characters, escape sequences and direction marks are written out", () => {
  expect(showSafely("a\u001b[31mred\u0007\r\nb\u202e\u200b\ud800")).toBe(
    "a\\x1b[31mred\\x07\\r\\nb\\u{202e}\\u{200b}\\u{d800}",
  );
  expect(showSafely("naïve 日本語 😀 — ✓")).toBe("naïve 日本語 😀 — ✓");
});

test("whatever tasks and agents say, each line stays one line of visible text", () => {
  fc.assert(
    fc.property(fc.array(arbitraryRecord, { minLength: 1, maxLength: 4 }), (records) => {
      const job = groupTrials(records, null);
      const lines = [
        ...records.map(renderTrialLine),
        ...renderJobLines(job, 1),
        ...renderFinalBlock(job, { jobDir: "a\u001bb", elapsedSec: 1, reused: 0 }),
      ];
      for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    }),
  );
});

test("a cut text has at most the characters asked for, and says that it was cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      const cut = showCut(text, 50);
      expect(widthOf(cut)).toBeLessThanOrEqual(51);
      expect(cut === showSafely(text) || (cut.endsWith("…") && widthOf(cut) === 51)).toBe(true);
    }),
  );
});

test.each([
  [0.2, "0s"],
  [29, "29s"],
  [59.6, "1m 0s"],
  [929.4, "15m 29s"],
  [3600, "1h 0m"],
  [3722, "1h 2m"],
])("%d seconds are %s", (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});
