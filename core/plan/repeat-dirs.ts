import type { RunSettings } from "../model/settings.ts";

export interface RepeatDir {
  /** 1 for the first. */
  readonly repeat: number;
  readonly jobsDir: string;
}

/**
 * The jobs folder of each repeat: `<jobs>` for a plain run, `<jobs>/<agent>/trial-NN` when there are
 * several (spec 4.1). Each is resumed on its own.
 */
export function repeatDirs(
  settings: Pick<RunSettings, "agent" | "jobsDir" | "trials">,
): RepeatDir[] {
  if (settings.trials === 1) return [{ repeat: 1, jobsDir: settings.jobsDir }];
  const parent = repeatParent(settings);
  return Array.from({ length: settings.trials }, (_, index) => ({
    repeat: index + 1,
    jobsDir: `${parent}/trial-${String(index + 1).padStart(2, "0")}`,
  }));
}

/** Where the repeats of an agent lie. */
export function repeatParent({ agent, jobsDir }: Pick<RunSettings, "agent" | "jobsDir">): string {
  return `${jobsDir.replace(/\/+$/u, "")}/${agent}`;
}
