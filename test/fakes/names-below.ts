import { compareNames } from "../../core/plan/compare-names.ts";
import type { JobRef } from "../../core/ports/job-store.ts";

/** Names of the folders directly below `jobsDir` on a disk that holds these jobs, in byte order. */
export function namesBelow(jobsDir: string, jobs: Iterable<JobRef>): string[] {
  const paths = [...jobs].map((job) => `${job.jobsDir}/${job.jobName}`);
  const below = paths.filter((path) => path.startsWith(`${jobsDir}/`));
  const names = below.map((path) => path.slice(jobsDir.length + 1).split("/")[0] ?? "");
  return [...new Set(names)].toSorted(compareNames);
}
