import type { CardGroup } from "../model/run-card.ts";
import { compareNames } from "../plan/compare-names.ts";
import { groupBy } from "../plan/group-by.ts";
import { classifyTrial } from "../results/classify-trial.ts";
import { describeUnscored } from "./console/category-labels.ts";
import { type GroupOptions, joinPath } from "./group-options.ts";
import type { ReportTrial, SettingGroup } from "./setting-groups.ts";

/** What was left out of the score and why, each trial by name (spec 1.10). */
export function findUnscored(
  group: SettingGroup,
  options: GroupOptions,
): Pick<CardGroup, "unscored" | "stopped" | "never_started"> {
  const nameOf = ({ job, trial }: ReportTrial): string =>
    joinPath(options.pathOf(job.job.path), trial.record.rolloutName);
  const without = group.trials.filter(({ trial }) => trial.record.outcome.kind === "unscored");
  return {
    unscored: causesOf(
      without.filter((one) => !isStopped(one)),
      nameOf,
    ),
    stopped: without.filter(isStopped).map(nameOf).toSorted(compareNames),
    never_started: group.neverStarted
      .map(({ job, taskName }) => joinPath(options.pathOf(job.job.path), taskName))
      .toSorted(compareNames),
  };
}

function isStopped({ trial }: ReportTrial): boolean {
  return classifyTrial(trial.record) === "stopped";
}

function causesOf(
  trials: readonly ReportTrial[],
  nameOf: (trial: ReportTrial) => string,
): CardGroup["unscored"] {
  const causes = trials.flatMap((one) => {
    const { outcome, verification } = one.trial.record;
    if (outcome.kind === "scored") return [];
    const { fault, category } = outcome;
    return { fault, category, label: describeUnscored(outcome, verification?.refused).label, one };
  });
  const byCause = groupBy(causes, ({ fault, label }) => `${fault} ${label}`);
  return [...byCause]
    .toSorted(([a, first], [b, second]) => second.length - first.length || compareNames(a, b))
    .flatMap(([, members]) => {
      const [first] = members;
      if (first === undefined) return [];
      const { fault, category, label } = first;
      const names = members.map(({ one }) => nameOf(one)).toSorted(compareNames);
      return { fault, category, label, trials: names };
    });
}
