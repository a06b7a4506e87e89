import { expect, test } from "vitest";
import type { TrialRecord } from "../../../core/model/record.ts";
import { groupTrials } from "../../../core/results/group-trials.ts";
import { mixedImages } from "../../../core/results/mixed-images.ts";
import { summarizeMatrix } from "../../../core/results/summarize-matrix.ts";
import { aRecord, onImage, type RecordWish } from "./a-record.ts";
import { summarize } from "./a-summary.ts";

function on(digest: string | null, wish: RecordWish = {}): TrialRecord {
  return aRecord({ isolation: onImage(digest), ...wish });
}

const job = (...records: TrialRecord[]) => groupTrials(records, null);

test("a task whose repeats were scored on two images is named with both, and no other task is", () => {
  const first = job(on("sha256:b"), on("sha256:c", { taskName: "other" }));
  const second = job(on("sha256:a", { reward: 0 }), on("sha256:c", { taskName: "other" }));
  const expected = [{ task_name: "half-life", image_digests: ["sha256:a", "sha256:b"] }];
  expect(mixedImages([first, second])).toEqual(expected);
  expect(mixedImages([second, first])).toEqual(expected);
  const repeats = [first, second].map((trials, index) => ({
    alias: "claude",
    repeat: index + 1,
    jobsDir: `jobs/claude/trial-0${index + 1}`,
    trials,
  }));
  expect(summarizeMatrix(repeats, 2).mixed_images).toEqual(expected);
});

test("a second score of one job on another image is flagged in its summary", () => {
  const records = [on("sha256:a"), on("sha256:b", { attempt: 2 })];
  expect(summarize(records).mixed_images).toEqual([
    { task_name: "half-life", image_digests: ["sha256:a", "sha256:b"] },
  ]);
  expect(summarize([on("sha256:a"), on("sha256:a", { attempt: 2 })]).mixed_images).toEqual([]);
});

test("an image that gave no score, or that nobody knows, flags nothing", () => {
  const retried = job(
    on("sha256:a", { unscored: "infra_failure" }),
    on("sha256:b", { attempt: 2 }),
  );
  expect(mixedImages([retried])).toEqual([]);
  expect(mixedImages([job(on(null)), job(on("sha256:a"))])).toEqual([]);
  expect(mixedImages([job(aRecord()), job(on("sha256:a"))])).toEqual([]);
});
