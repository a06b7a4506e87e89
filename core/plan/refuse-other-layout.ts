import { BenchError } from "../errors.ts";
import type { JobStore } from "../ports/job-store.ts";
import { isSameMeasurement, resumeCandidates } from "./choose-job.ts";
import { type EarlierJob, recordsOf } from "./earlier-job.ts";
import { type EarlierQuestion, readHeader } from "./read-earlier-jobs.ts";
import { repeatParent } from "./repeat-dirs.ts";

/**
 * Repeats lie at `<jobs>/<agent>/trial-NN`, a single run at `<jobs>`, and neither finds the other's
 * jobs: with `--trials` changed between the two, work that is paid for would be bought again, under a
 * pot that counts from 0. Throws `BenchError` (`usage`) for it unless `--fresh` asks for just that.
 * Controls that no cap counts cost nothing, and are not kept from running again.
 */
export async function refuseOtherLayout(store: JobStore, question: EarlierQuestion): Promise<void> {
  const { settings } = question;
  if (settings.fresh) return;
  for (const jobsDir of await otherDirs(store, question)) {
    const names = await store.jobNames(jobsDir);
    for (const jobName of wantedNames(names, settings.jobName)) {
      const stored = await store.readJob({ jobsDir, jobName });
      const header = await readHeader(stored);
      if (!isPaid(header) || !isSameMeasurement(header, question)) continue;
      for await (const _ of stored.attempts()) throw refusal(header, question);
    }
  }
}

async function otherDirs(store: JobStore, { settings }: EarlierQuestion): Promise<string[]> {
  if (settings.trials > 1) return [settings.jobsDir];
  const parent = repeatParent(settings);
  const names = await store.jobNames(parent);
  return names.filter((name) => /^trial-\d+$/u.test(name)).map((name) => `${parent}/${name}`);
}

function wantedNames(names: readonly string[], jobName: string | null): readonly string[] {
  if (jobName !== null) return names.filter((name) => name === jobName);
  return resumeCandidates(names.map((name) => ({ jobName: name }))).map((job) => job.jobName);
}

/** Whether a pot or a model stands behind it. */
function isPaid(job: EarlierJob): boolean {
  if (job.evaluation === null) return recordsOf(job).some(({ model }) => model !== null);
  return job.evaluation.pot !== null || typeof job.evaluation.config["model"] === "string";
}

function refusal(job: EarlierJob, { settings }: EarlierQuestion): BenchError {
  const recorded = job.evaluation?.config["trials"];
  const trials = typeof recorded === "number" ? String(recorded) : "N";
  const before = settings.trials === 1 ? `\`--trials ${trials}\`` : "`--trials 1`";
  return new BenchError(
    "usage",
    `job ${job.dir} has trials of this agent, model and settings, run with ${before}: ` +
      `--trials ${String(settings.trials)} would run and pay for all of them again`,
    {
      next: `give ${before} again to go on with it, or another \`-o\`, or --fresh to start over`,
    },
  );
}
