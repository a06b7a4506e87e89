import { isScripted } from "../../model/scripted-name.ts";
import type { TrialRecord } from "../../model/record.ts";
import type { LoadedJob } from "../../results/loaded-job.ts";
import { lostToVerifier, suspectTrials } from "../../results/trial-doubts.ts";
import { showSafely } from "./safe-text.ts";

/**
 * One line for each thing that a reader of a job's scores must know and no score tells: trials whose
 * agent may have tampered with what judges them, verifiers that failed before, saved work that cannot
 * be verified again (with the command that helps), seals that a later command wrote, a job whose model
 * was a script.
 */
export function renderDoubts(job: LoadedJob): string[] {
  const at = (rolloutName: string): string => showSafely(`${job.path}/${rolloutName}`);
  const suspects = suspectTrials([job]).map(({ rollout_name: name, suspects: lines, ...rest }) => {
    const [first = "see its verifier/hardening.json", ...others] = lines;
    const hidden = others.length + rest.more_suspects;
    const more = hidden > 0 ? ` and ${hidden} more` : "";
    return `${at(name)} is suspect: ${showSafely(first)}${more}; its score was not changed`;
  });
  const verifiers = job.trials.flatMap(({ record }) => {
    const said = verifierDoubt(record);
    return said === null ? [] : [`${at(record.rolloutName)}: ${said}`];
  });
  const recovered = job.recovered.map(
    (name) => `${at(name)} was sealed by a later command: its own was killed before it could`,
  );
  const scripted = isScripted(job.model)
    ? [`${showSafely(job.path)} ran with a script in the place of a model: its score is no model's`]
    : [];
  return [...scripted, ...suspects, ...verifiers, ...recovered];
}

function verifierDoubt(record: TrialRecord): string | null {
  const { verification } = record;
  if (verification === null) return null;
  if (verification.refused) {
    const from = showSafely(verification.verify_only_from ?? "an earlier attempt");
    return `the saved work of ${from} cannot be verified again; next: the same command with --fresh`;
  }
  if (!lostToVerifier(record)) return null;
  const { failures, works_on_nop: onNop } = verification;
  const end = record.outcome.kind === "scored" ? "before it gave this score" : "and gave no score";
  return `its verifier failed ${failures === 1 ? "once" : `${failures} times`} ${end}${nopText(onNop)}`;
}

function nopText(worksOnNop: boolean | null): string {
  if (worksOnNop === null) return "";
  return worksOnNop ? "; it works on nop's workspace" : "; it fails on nop's workspace as well";
}
