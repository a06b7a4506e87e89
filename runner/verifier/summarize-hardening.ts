import type { Hardening } from "../../core/model/trial.ts";
import type { HardeningEvidence } from "./harden-sandbox.ts";

const MAX_LINES = 20;

/** What result.json says of the evidence: every name of it is in verifier/hardening.json. */
export function summarizeHardening(evidence: HardeningEvidence, agentWasRoot: boolean): Hardening {
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
      ...evidence.unwatched_folders.map((folder) => whyUnwatched(folder, agentWasRoot)),
      ...evidence.skipped,
      ...evidence.notes,
    ],
  };
}

function whyUnwatched(folder: string, agentWasRoot: boolean): string {
  if (folder !== "/")
    return `changes below ${folder} were not looked for: it is a mount of its own`;
  const why = agentWasRoot ? "the agent was root" : "this image has no GNU find";
  return `changes were not looked for: ${why}`;
}
