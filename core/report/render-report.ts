import type { CardControl, CardGroup, CardTrial, RunCard } from "../model/run-card.ts";
import { formatCount, formatDollars } from "./console/format-amounts.ts";
import { countOf, renderHeadline, renderRule, renderWarnings } from "./render-headline.ts";
import { renderSampling } from "./render-sampling.ts";
import { renderSpendLine } from "./render-spend-line.ts";
import { renderTaskTable } from "./render-task-table.ts";
import {
  escapeMarkdown,
  formatInterval,
  formatPair,
  formatRate,
  formatShortReward,
  listSome,
  nameSetting,
} from "./report-texts.ts";

/** report.md by the rules of BenchFlow 0.10.0rc2 (spec 1.10), all of it from the run card. */
export function renderReport(card: RunCard): string {
  const [only] = card.groups;
  const isMixed = card.groups.length > 1;
  const lines = [
    `# Report: ${escapeMarkdown(card.name)}`,
    "",
    ...card.groups.map((group) => `${isMixed ? "- " : ""}${renderHeadline(group)}`),
    ...(only === undefined ? ["No job was found."] : isMixed ? [] : [renderRule(only)]),
    ...(isMixed ? ["", renderMixed(card)] : []),
    ...card.groups.flatMap((group) => renderGroup(group, isMixed)),
    "",
    renderControls(card),
    "",
    renderSeeds(card),
    ...renderBudgets(card),
    ...renderTrials(card.groups.flatMap(({ trials }) => trials)),
  ];
  return `${lines.join("\n")}\n`;
}

function renderMixed({ mixed, groups }: RunCard): string {
  return (
    `Warning: mixed settings: these trials ran under ${groups.length} settings, which differ in ` +
    `${mixed.join(", ")}. There is no one score; report a result for each setting.`
  );
}

function renderGroup(group: CardGroup, isMixed: boolean): string[] {
  const warnings = renderWarnings(group);
  return [
    ...(isMixed ? ["", `## ${nameSetting(group.setting)}`, "", renderRule(group)] : []),
    ...(warnings.length > 0 ? ["", ...warnings] : []),
    "",
    ...renderTaskTable(group.tasks),
    "",
    ...renderSettings(group),
    ...renderViews(group),
    ...renderUnscored(group),
    "",
    ...renderPassAtK(group),
    renderSpendLine(group),
    "",
    renderSampling(group.sampling),
    "",
    renderHeadroom(group),
  ];
}

function orUnknown(text: string | null): string {
  return text === null ? "unknown" : escapeMarkdown(text);
}

/** A setting as it was sent; for none what then holds, where it is known that none was. */
function orElse(text: string | null, isKnown: boolean, otherwise: string): string {
  return text === null && isKnown ? otherwise : orUnknown(text);
}

function nameServed({ model, served_models: served }: CardGroup["setting"]): string {
  if (served === null) return model === null ? "none" : "unknown";
  return served.map(escapeMarkdown).join(", ");
}

function renderSettings({ setting, jobs }: CardGroup): string[] {
  const versions = Object.entries(setting.agent_versions ?? {}).map(
    ([name, version]) => `${escapeMarkdown(name)} ${escapeMarkdown(version)}`,
  );
  const parts = [
    `agent versions ${setting.agent_versions === null ? "unknown" : versions.join(", ") || "none"}`,
    `served model ${nameServed(setting)}`,
    `route ${orElse(setting.route, setting.route_known, "the provider's own")}`,
    `effort ${orElse(setting.effort, setting.effort_known, "the agent's default")}`,
    `sandbox ${orUnknown(setting.environment)}`,
    `tool ${orUnknown(setting.tool)}`,
    `settings ${setting.settings_digest === null ? "digest unknown" : setting.settings_digest.slice(0, 15)}`,
    `task set sha256:${setting.tasks_digest.slice(0, 8)}`,
  ];
  return [`Setting: ${parts.join("; ")}; ${countOf(jobs.length, "job")}.`];
}

/** Both views of the score (statistics D1) and the bounds for what is missing (D7). */
function renderViews({ views, counts, complete_repeats: complete }: CardGroup): string[] {
  const { scored, planned } = views;
  if (scored.pass_rate === null || planned.lowest === null || planned.highest === null) return [];
  if (counts.scored === counts.planned) return [];
  return [
    "",
    `Of the ${counts.scored} scored trials ${formatRate(scored.pass_rate)} passed (Wilson ` +
      `${formatPair(scored.interval_95)}). Of all ${counts.planned} planned ones between ` +
      `${formatRate(planned.lowest)} and ${formatRate(planned.highest)} did, whatever the missing ones ` +
      `would have been (${formatPair(planned.interval_95)}).`,
    ...renderComplete(complete),
  ];
}

/** Statistics D8: what is scored when money ends is no random sample. */
function renderComplete(complete: CardGroup["complete_repeats"]): string[] {
  if (complete === null || complete.score === null) return [];
  return [
    "",
    `On the ${complete.repeats} of ${complete.of} repeats that are complete: ${complete.passed} of ` +
      `${complete.scored} trials passed, ${formatRate(complete.score)}, 95% interval ` +
      `${formatInterval(complete.score_95)} over the tasks.`,
  ];
}

function renderUnscored({ unscored, stopped, never_started: never }: CardGroup): string[] {
  const causes = [
    ...unscored.map(
      ({ label, fault, trials }) =>
        `- ${trials.length} unscored, ${label} (${fault}): ${listSome(trials)}`,
    ),
    ...(stopped.length > 0
      ? [`- ${stopped.length} stopped by a budget or an interrupt: ${listSome(stopped)}`]
      : []),
    ...(never.length > 0 ? [`- ${never.length} never started: ${listSome(never)}`] : []),
  ];
  return ["", ...(causes.length === 0 ? ["Left out: nothing."] : ["Left out:", ...causes])];
}

function renderPassAtK({ pass_at_k: table }: CardGroup): string[] {
  if (table.length < 2) return [];
  const rows = table.map((row) => {
    const at = row.pass_at_k === null ? "unknown" : formatRate(row.pass_at_k);
    const hat = row.pass_hat_k === null ? "unknown" : formatRate(row.pass_hat_k);
    return `| ${row.k} | ${at} | ${formatPair(row.pass_at_k_95)} | ${hat} | ${formatPair(row.pass_hat_k_95)} | ${row.tasks} |`;
  });
  return [
    "| k | pass@k | 95% interval | pass^k | 95% interval | Tasks |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
  ];
}

function renderHeadroom({ headroom, headroom_unknown: unknown, trials }: CardGroup): string {
  const near = headroom.map(({ trial, limit }) => `${trial} (${limit})`);
  const rest =
    unknown === 0
      ? ""
      : ` The limits or the use of ${unknown} of ${trials.length} trials are not known whole.`;
  return near.length === 0
    ? `Headroom: no trial is known to be within 10% of a limit of time or memory.${rest}`
    : `Headroom: within 10% of a limit: ${listSome(near)}.${rest}`;
}

function renderControls({ controls }: RunCard): string {
  if (controls.length === 0) {
    return "Controls: none among these jobs. Without oracle and nop on the same tasks a score cannot be told from a broken task.";
  }
  return `Controls on the same tasks: ${controls.map(renderControl).join("; ")}.`;
}

export function nameControl({ control }: CardControl): string {
  return control === "empty" ? "nop" : "oracle";
}

function renderControl(control: CardControl): string {
  const { passed, tasks, unexpected, unscored, missing } = control;
  const verb = control.control === "oracle" ? "did not pass" : "passed";
  const doubts = [
    ...(unexpected.length > 0 ? [`${verb} ${listSome(unexpected)}`] : []),
    ...(unscored.length > 0 ? [`no score of ${listSome(unscored)}`] : []),
    ...(missing.length > 0 ? [`not run on ${listSome(missing)}`] : []),
  ];
  const shown = `${nameControl(control)} ${passed}/${tasks}`;
  return doubts.length === 0 ? shown : `${shown} (${doubts.join("; ")})`;
}

function listSeeds(seeds: readonly number[]): string {
  return seeds.length === 0 ? "none" : seeds.join(", ");
}

function renderSeeds({ seeds }: RunCard): string {
  const intervals = seeds.intervals === null ? "none, nothing was drawn" : String(seeds.intervals);
  return `Seeds: intervals ${intervals}; sample of tasks ${listSeeds(seeds.task_sample)}; order of tasks ${listSeeds(seeds.task_order)}.`;
}

function renderBudgets({ jobs }: RunCard): string[] {
  const counted = jobs.flatMap(({ path, budget }) => (budget === null ? [] : { path, budget }));
  const last = counted.at(-1);
  if (last === undefined) return [];
  const { spent, stopped, reason, caps } = last.budget;
  // Several jobs may be of several commands, each with a pot of its own.
  const whose = counted.length > 1 ? `, as job ${escapeMarkdown(last.path)} has it` : "";
  const unknown = [
    ...(spent.usd_unknown_trials > 0 ? [`${spent.usd_unknown_trials} trials of unknown cost`] : []),
    ...(spent.tokens_unknown_trials > 0
      ? [`${spent.tokens_unknown_trials} trials of unknown tokens`]
      : []),
  ];
  const doubt = unknown.length === 0 ? "" : ` (${unknown.join(", ")})`;
  const cap =
    caps.max_cost_usd === null ? "no cap in dollars" : `cap ${formatDollars(caps.max_cost_usd)}`;
  const end = stopped ? `stopped: ${escapeMarkdown(reason ?? "reason unknown")}` : "not stopped";
  return [
    "",
    `Ledger of the command${whose}: ${formatDollars(spent.cost_usd)} and ${formatCount(spent.tokens)} tokens ` +
      `spent${doubt}, ${cap}, ${end}.`,
  ];
}

/** Enough to see every trial of a sweep that people read; a larger one is in the card and the CSV. */
const MAX_TRIAL_ROWS = 500;

function renderTrials(trials: readonly CardTrial[]): string[] {
  const rows = trials.slice(0, MAX_TRIAL_ROWS).map((trial) => {
    const stop = trial.stop_reason === null ? "" : ` (${escapeMarkdown(trial.stop_reason)})`;
    const cells = [
      escapeMarkdown(trial.task_name),
      trial.repeat === null ? "-" : String(trial.repeat),
      `${trial.model_outcome.replaceAll("_", " ")}${stop}`,
      trial.reward === null ? "none" : formatShortReward(trial.reward),
      trial.limit ?? "-",
      trial.category === null ? "-" : escapeMarkdown(trial.category),
      String(trial.attempts),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const more = trials.length - rows.length;
  return [
    "",
    "| Task | Repeat | Model outcome | Verifier reward | Limit | Error | Attempts |",
    "|---|---|---|---|---|---|---|",
    ...rows,
    ...(more > 0 ? ["", `${more} more trials are in run-card.json.`] : []),
  ];
}
