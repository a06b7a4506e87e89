export interface GroupOptions {
  /** Path of a job relative to what the report is of. */
  readonly pathOf: (jobPath: string) => string;
  /** Seed of the resampled intervals. */
  readonly seed: number;
}

/** A path below a folder that may be the folder itself. */
export function joinPath(folder: string, name: string): string {
  return folder === "." ? name : `${folder}/${name}`;
}
