import { join, relative, resolve } from "node:path";
import { MatrixSummary } from "../core/model/matrix-summary.ts";
import { RunCard } from "../core/model/run-card.ts";
import { firstDifference, firstLineDifference } from "../core/report/first-difference.ts";
import { renderReport } from "../core/report/render-report.ts";
import type { ReportJob } from "../core/report/report-job.ts";
import { contractCounts } from "../core/results/count-trials.ts";
import { parseJson } from "../core/usage/json-view.ts";
import { readTextFile } from "../stores/job-reader/read-text-file.ts";
import { jobCard, runCard } from "./read-reports.ts";
import type { VerificationFindings } from "./verification-findings.ts";
import { CARD_FILE, MAX_REPORT_BYTES, REPORT_FILE } from "./write-reports.ts";

/** A folder with a card, and how it is told: relative to what is verified. */
interface CardFolder {
  readonly root: string;
  readonly shown: string;
}

/** The card made again from the jobs that it lists, and the report beside it from that. */
export function verifyCard(
  card: RunCard,
  root: string,
  jobs: readonly ReportJob[],
  findings: VerificationFindings,
): void {
  const listed = new Set(card.jobs.map(({ path }) => resolve(root, path)));
  const own = jobs.filter(({ job }) => listed.has(resolve(job.path)));
  tellMissingTrials(card, root, own, findings);
  if (card.scope === "run") verifyMatrix(root, own, findings);
  compareCard(card, makeAgain(card, root, own), { root, shown: "" }, findings);
  findings.rootSha256 = card.seals.root_sha256;
}

const MATRIX_FILE = "matrix-summary.json";

/** The counts of every repeat that the matrix summary lists. */
function verifyMatrix(
  root: string,
  jobs: readonly ReportJob[],
  findings: VerificationFindings,
): void {
  const value = jsonIfThere(join(root, MATRIX_FILE));
  if (value === undefined) return;
  const matrix = MatrixSummary.safeParse(value);
  if (!matrix.success) {
    findings.differs(MATRIX_FILE, "is no matrix summary");
    return;
  }
  for (const run of matrix.data.runs) {
    const job = jobs.find(({ job: one }) => one.alias === run.alias && one.repeat === run.trial);
    // A repeat that ended before it had a job, or one whose loss the card tells.
    if (job === undefined) continue;
    const again = contractCounts(job.job.counts);
    const counts = COUNTED.map((name) => [name, run[name]] as const);
    const difference = firstDifference(Object.fromEntries(counts), again);
    if (difference === null) continue;
    const whose = `${run.alias}'s trial-${String(run.trial).padStart(2, "0")}`;
    const { path, found, expected } = difference;
    findings.differs(MATRIX_FILE, `${path} of ${whose} is ${found}, and ${expected} by its trials`);
  }
}

/** Undefined where there is no file; null for one that is there and is no JSON. */
function jsonIfThere(path: string): unknown {
  const found = readTextFile(path, MAX_REPORT_BYTES);
  if (found.kind === "missing") return undefined;
  return found.kind === "text" ? (parseJson(found.text) ?? null) : null;
}

const COUNTED = ["total", "passed", "failed", "errored", "verifier_errored"] as const;

/** The cards of a tree's jobs; that of its own folder is among them unless it was looked at already. */
export function verifyOwnCards(
  jobs: readonly ReportJob[],
  { root, isRootDone }: { readonly root: string; readonly isRootDone: boolean },
  findings: VerificationFindings,
): void {
  for (const job of jobs) {
    const { path } = job.job;
    const isDone = isRootDone && resolve(path) === resolve(root);
    const value = jsonIfThere(join(path, CARD_FILE));
    if (isDone || value === undefined) continue;
    const shown = relative(resolve(root), resolve(path));
    const parsed = RunCard.safeParse(value);
    if (parsed.success) {
      const again = makeAgain(parsed.data, path, [job]);
      compareCard(parsed.data, again, { root: path, shown }, findings);
    } else findings.differs(join(shown, CARD_FILE), "is no run card");
  }
}

/**
 * A run's name is its folder's at that time, so that the folder may be renamed. Null for the card of one
 * job that is not there.
 */
function makeAgain(card: RunCard, root: string, jobs: readonly ReportJob[]): RunCard | null {
  const seed = card.seeds.intervals ?? undefined;
  const [job] = jobs;
  if (card.scope === "job") return job === undefined ? null : jobCard(job, seed);
  return { ...runCard(root, jobs, seed), name: card.name };
}

function tellMissingTrials(
  card: RunCard,
  root: string,
  jobs: readonly ReportJob[],
  findings: VerificationFindings,
): void {
  const there = new Set(
    jobs.flatMap(({ job, evidence }) =>
      [...evidence.keys()].map((name) => resolve(job.path, name)),
    ),
  );
  for (const { path } of card.groups.flatMap(({ trials }) => trials)) {
    if (there.has(resolve(root, path))) continue;
    findings.differs(path, `is listed in ${CARD_FILE} and its folder is gone`);
  }
}

function compareCard(
  card: RunCard,
  again: RunCard | null,
  { root, shown }: CardFolder,
  findings: VerificationFindings,
): void {
  findings.checked.cards += 1;
  if (again === null) {
    findings.differs(join(shown, CARD_FILE), "is of a job that is not there");
    return;
  }
  const difference = firstDifference(card, JSON.parse(JSON.stringify(again)));
  if (difference !== null) {
    const { path, found, expected } = difference;
    findings.differs(join(shown, CARD_FILE), `${path} is ${found}, and ${expected} by the files`);
  }
  const report = readTextFile(join(root, REPORT_FILE), MAX_REPORT_BYTES);
  if (report.kind === "missing") return;
  const line = report.kind === "text" ? firstLineDifference(report.text, renderReport(again)) : 1;
  if (line === null) return;
  findings.differs(join(shown, REPORT_FILE), `line ${line} is not what the files give`);
}
