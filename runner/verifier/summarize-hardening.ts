import type { Hardening } from "../../core/model/trial.ts";
import type { HardeningEvidence } from "./harden-sandbox.ts";

const MAX_LINES = 20;

/** What result.json says of the evidence: every name of it is in verifier/hardening.json. */
export function summarizeHardening(evidence: HardeningEvidence): Hardening {
  const suspects = [
    ...evidence.suspect_code,
    ...evidence.changed_system_files.map((path) => `${path} changed, and only root may write it`),
  ];
  const removed = [
    evidence.removed_code,
    evidence.removed_bytecode,
    evidence.removed_links,
    evidence.removed_jobs,
  ];
  return {
    integrity: evidence.integrity,
    suspects: suspects.slice(0, MAX_LINES),
    more_suspects: Math.max(0, suspects.length - MAX_LINES),
    changed_configs: [...evidence.changed_configs],
    removed: removed.flat().length,
    not_done: [
      ...evidence.unwatched_folders.map((folder) => `changes below ${folder} were not looked for`),
      ...evidence.skipped,
      ...evidence.notes,
    ],
  };
}
