import { join } from "node:path";
import { attemptNames } from "../files/read-attempts.ts";
import { checkSealOf, readSeal } from "../files/seal-folder.ts";

/** What the seals of a job's attempts say of their files. */
export interface JobSeals {
  readonly attempts: readonly string[];
  /** A line for each file that is missing or differs, which begins with its path in the attempt. */
  readonly problems: readonly { readonly attempt: string; readonly what: string }[];
  /** Attempts without a seal. */
  readonly unsealed: readonly string[];
  /** Files that no seal lists, relative to the job's folder. */
  readonly extra: readonly string[];
  readonly sealedFiles: number;
}

/** Hashes every sealed file of the job again, attempt by attempt. Throws only when the disk fails. */
export async function checkJobSeals(jobDir: string): Promise<JobSeals> {
  const attempts = await attemptNames(jobDir);
  const problems: { attempt: string; what: string }[] = [];
  const unsealed: string[] = [];
  const extra: string[] = [];
  let sealedFiles = 0;
  for (const name of attempts) {
    const dir = join(jobDir, name);
    const check = await checkSealOf(dir);
    if (check.state === "absent") unsealed.push(name);
    problems.push(...check.problems.map((what) => ({ attempt: name, what })));
    extra.push(...check.extra.map((path) => `${name}/${path}`));
    const found = readSeal(dir);
    if (found.kind === "sealed") sealedFiles += found.seal.files.length;
  }
  return { attempts, problems, unsealed, extra, sealedFiles };
}
