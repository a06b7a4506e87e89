import type { Gate } from "../../model/run-summary.ts";
import type { MixedImage } from "../../model/summary.ts";
import { countTrials } from "../../results/count-trials.ts";
import type { JobTrials } from "../../results/group-trials.ts";
import { listNames, showSafely } from "./safe-text.ts";

/** Of a digest, its kind and 8 hex digits. */
const SHOWN_DIGEST_CHARS = "sha256:".length + 8;

/** What a resume kept and ran, for stderr (spec 3.3). */
export function renderResumed(jobDir: string, reused: number, ran: number): string {
  const job = `Resumed job ${showSafely(jobDir)}:`;
  if (ran === 0) {
    return `${job} all ${reused} task(s) were already finished, so nothing ran and these are the earlier results`;
  }
  return (
    `${job} ${reused} finished task(s) reused, ${ran} ran now. ` +
    "Pass --fresh (or a new --job-name) for a new run."
  );
}

/** The two lines after the last repeat (spec 4.3). It says trial job for a repeat, as the page does. */
export function renderMatrixLines(jobs: readonly JobTrials[], summaryPath: string): string[] {
  const { passed, total, errored, verifierErrored } = countTrials(jobs);
  return [
    `Matrix summary: ${showSafely(summaryPath)}`,
    `Matrix: ${jobs.length} trial job(s), ${passed}/${total} trials passed, ` +
      `errors=${errored} verifier-errors=${verifierErrored}`,
  ];
}

/** One line a task that was scored on images that differ (attack 24), for stderr. */
export function renderMixedImages(mixed: readonly MixedImage[]): string[] {
  return mixed.map(({ task_name: name, image_digests: digests }) => {
    const shown = digests.map((digest) => digest.slice(0, SHOWN_DIGEST_CHARS));
    const images = `${digests.length} different images (${listNames(shown, 3)})`;
    return `${showSafely(name)} was scored on ${images}: its scores may not be comparable`;
  });
}

/** One line for each failed check of the gate, for stderr. */
export function renderGate(gate: Gate): string[] {
  return gate.failed.map((check) => `Gate failed: ${check}`);
}
