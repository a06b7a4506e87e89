import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RunCard } from "../../../core/model/run-card.ts";
import { renderRunCard } from "../../../core/report/build-run-card.ts";
import { renderReport } from "../../../core/report/render-report.ts";
import type { RecordWish } from "../results/a-record.ts";
import { aCard, aReportJob, plannedOf } from "./report-builders.ts";

const wish = fc.record({
  taskName: fc.constantFrom("a", "b", "c", "d"),
  attempt: fc.integer({ min: 1, max: 3 }),
  judged: fc.oneof(
    fc.record({ reward: fc.constantFrom(0, 1, 0.5) }),
    fc.record({
      unscored: fc.constantFrom(
        "infra_failure",
        "verifier_failure",
        "budget_stopped",
        "no_verdict",
        "timeout",
      ),
    }),
  ),
});
const jobWish = fc.uniqueArray(wish, {
  maxLength: 8,
  selector: ({ taskName, attempt }) => `${taskName}${String(attempt)}`,
});

test("counts always add up to the planned trials, and no order of files or jobs shows", () => {
  fc.assert(
    fc.property(fc.array(jobWish, { minLength: 1, maxLength: 3 }), (jobs) => {
      const build = (turn: <T>(list: readonly T[]) => readonly T[]) =>
        turn(jobs).map((records) =>
          aReportJob({
            path: `jobs/x/trial-0${String(jobs.indexOf(records) + 1)}/j`,
            repeat: jobs.indexOf(records) + 1,
            planned: plannedOf("a", "b", "c"),
            records: turn(records).map(({ judged, ...one }) =>
              Object.assign({}, one, judged as RecordWish),
            ),
          }),
        );
      const card = aCard(
        build((list) => list),
        { pathOf: (path) => path },
      );
      for (const { counts, unscored, stopped, never_started: never, trials } of card.groups) {
        const without = unscored.reduce((sum, cause) => sum + cause.trials.length, 0);
        expect(counts.passed + counts.failed).toBe(counts.scored);
        expect(counts.errored + counts.verifier_errored).toBe(without);
        expect(counts.scored + without + stopped.length + never.length).toBe(counts.planned);
        expect(trials).toHaveLength(counts.planned - never.length);
      }
      const planned = card.groups.reduce((sum, { counts }) => sum + counts.planned, 0);
      expect(planned).toBe(3 * jobs.length);
      const turned = aCard(
        build((list) => list.toReversed()),
        { pathOf: (path) => path },
      );
      expect(renderRunCard(turned)).toBe(renderRunCard(card));
      expect(renderReport(turned)).toBe(renderReport(card));
      expect(RunCard.parse(JSON.parse(renderRunCard(card)))).toEqual(card);
    }),
    { numRuns: 150 },
  );
});
