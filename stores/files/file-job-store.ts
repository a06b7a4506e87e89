import { constants } from "node:fs";
import { access, mkdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { SealCheck } from "../../core/model/seal.ts";
import { compareNames } from "../../core/plan/compare-names.ts";
import { nextAutomaticJobName } from "../../core/plan/job-name.ts";
import type {
  JobFolder,
  JobRef,
  JobStore,
  OpenJobRequest,
  StoredJob,
} from "../../core/ports/job-store.ts";
import { identifyProcess } from "../../host/process-identity.ts";
import { FileJobFolder } from "./file-job-folder.ts";
import { Lease } from "./lease.ts";
import type { LeaseOptions } from "./lease.ts";
import { EVALUATION_FILE, findJobs, isForeign } from "./list-jobs.ts";
import { checkFolder, makeFolder, makePath, removeUnused } from "./make-folders.ts";
import { putInOrder } from "./put-in-order.ts";
import { listEntries, listFolders, readAttempts } from "./read-attempts.ts";
import { readFileBytes } from "./read-file.ts";
import { checkName } from "./safe-path.ts";
import { checkSealOf } from "./seal-folder.ts";
import { codeOf, isMissing, reasonOf, storeError } from "./store-error.ts";
import { writeAtomic } from "./write-atomic.ts";

const MAX_EVALUATION_BYTES = 64 * 1024 * 1024;
const MAX_NAME_TRIES = 1000;

export interface FileJobStoreOptions {
  /** How long a job of an owner on another machine or in another container is left alone. */
  readonly leaseMs?: number;
  /** Of `identifyProcess`; this process by default. */
  readonly owner?: string;
}

/**
 * Jobs as folders below one jobs folder (spec 1). The path to that root may hold links, which are the
 * user's own; below it none is followed.
 */
export class FileJobStore implements JobStore {
  readonly #root: string;
  readonly #lease: LeaseOptions;

  constructor(root: string, options: FileJobStoreOptions = {}) {
    this.#root = root;
    this.#lease = {
      leaseMs: options.leaseMs ?? 120_000,
      owner: options.owner ?? identifyProcess(),
    };
  }

  async checkWritable(jobsDir: string): Promise<void> {
    const wanted = resolve(jobsDir);
    let path = wanted;
    for (;;) {
      try {
        await checkUsable(path);
        return;
      } catch (error) {
        if (!isMissing(error) || path === dirname(path)) throw notWritable(jobsDir, error);
        path = dirname(path);
      }
    }
  }

  async jobNames(jobsDir: string): Promise<readonly string[]> {
    return (await listFolders(this.#inRoot(jobsDir))).toSorted(compareNames);
  }

  async readJob({ jobsDir, jobName }: JobRef): Promise<StoredJob> {
    const dir = this.#jobDir({ jobsDir, jobName });
    await checkFolder(dir);
    const found = await readFileBytes(join(dir, EVALUATION_FILE), MAX_EVALUATION_BYTES);
    return {
      jobsDir,
      jobName,
      dir,
      evaluation: found.kind === "read" ? new TextDecoder().decode(found.bytes) : null,
      evaluationProblem: found.kind === "refused" ? found.reason : null,
      foreign: isForeign(jobName, await listEntries(dir)),
      attempts: () => readAttempts(dir),
    };
  }

  async openJob(request: OpenJobRequest): Promise<JobFolder> {
    const made = request.mode === "resume" ? [] : await this.#makeJobFolder(request);
    const dir = made.at(-1) ?? this.#jobDir(request);
    await checkFolder(dir);
    const lease = await Lease.take(dir, this.#lease).catch(async (error: unknown) => {
      await removeUnused(made);
      throw error;
    });
    const ref = { jobsDir: request.jobsDir, jobName: basename(dir), dir };
    const job = new FileJobFolder(ref, lease, made);
    try {
      if (request.mode === "resume") await putInOrder(dir);
      await writeEvaluation(job, request.evaluation);
    } catch (error) {
      await job.close();
      throw storeError(error, "open", dir);
    }
    return job;
  }

  async *listJobs(root: string): AsyncIterable<JobRef> {
    // A trailing slash or `.` would hide the name of a root that is a job itself.
    const isPlain = basename(root) !== "." && basename(root) !== "..";
    yield* findJobs(isPlain ? root.replace(/(?<=.)\/+$/u, "") : resolve(root));
  }

  async checkSeal(ref: JobRef, rolloutName: string): Promise<SealCheck> {
    checkName(rolloutName);
    return await checkSealOf(join(this.#jobDir(ref), rolloutName));
  }

  async write(jobsDir: string, name: string, bytes: Uint8Array | string): Promise<void> {
    checkName(name);
    await this.#makeJobsDir(jobsDir);
    await writeAtomic(join(this.#inRoot(jobsDir), name), bytes, { syncFolder: true });
  }

  #jobDir({ jobsDir, jobName }: JobRef): string {
    checkName(jobName);
    // `bench results JOB` opens a store whose root is the job itself.
    if (resolve(jobsDir, jobName) === resolve(this.#root)) return join(jobsDir, jobName);
    return join(this.#inRoot(jobsDir), jobName);
  }

  /** The jobs folder as given, proven to be the root or below it. */
  #inRoot(jobsDir: string): string {
    this.#segmentsBelowRoot(jobsDir);
    return jobsDir;
  }

  #segmentsBelowRoot(jobsDir: string): string[] {
    const path = relative(resolve(this.#root), resolve(jobsDir));
    const segments = path === "" ? [] : path.split(sep);
    if (segments[0] !== ".." && !segments.includes("")) return segments;
    throw new BenchError("bug", `jobs folder ${jobsDir} is not below ${this.#root}`, {
      next: "report this with the command that you ran",
    });
  }

  /** Every folder that had to be made, the outermost first, the job's own last. */
  async #makeJobFolder(request: OpenJobRequest): Promise<readonly string[]> {
    const { jobsDir, mode } = request;
    let { jobName } = request;
    const made = await this.#makeJobsDir(jobsDir);
    for (let tries = 0; tries < MAX_NAME_TRIES; tries += 1) {
      const dir = this.#jobDir({ jobsDir, jobName });
      if (await isMadeNow(dir)) return [...made, dir];
      if (mode === "new") break;
      jobName = nextAutomaticJobName(jobName);
    }
    throw new BenchError("usage", `job ${join(jobsDir, jobName)} exists already`, {
      next: "choose another `--job-name`, or leave it out",
    });
  }

  async #makeJobsDir(jobsDir: string): Promise<string[]> {
    const below = this.#segmentsBelowRoot(jobsDir);
    const made: string[] = [];
    try {
      made.push(...(await makePath(resolve(this.#root))));
      let path = this.#root;
      for (const name of below) {
        path = join(path, name);
        if (await makeFolder(path)) made.push(path);
      }
      return made;
    } catch (error) {
      await removeUnused(made);
      throw isDiskFailure(error) ? storeError(error, "make", jobsDir) : notWritable(jobsDir, error);
    }
  }
}

async function isMadeNow(dir: string): Promise<boolean> {
  try {
    await mkdir(dir);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw isDiskFailure(error) ? storeError(error, "make", dir) : notWritable(dirname(dir), error);
  }
}

async function checkUsable(path: string): Promise<void> {
  if (!(await stat(path)).isDirectory()) throw new Error("not a folder");
  await access(path, constants.W_OK | constants.X_OK);
}

/** A folder that cannot be made is a wrong flag; a disk that fails is not. */
function notWritable(jobsDir: string, error: unknown): BenchError {
  return new BenchError("usage", `no jobs can be written to ${jobsDir}: ${reasonOf(error)}`, {
    next: "choose a folder that you can write with `--jobs-dir DIR`",
    cause: error,
  });
}

function isDiskFailure(error: unknown): boolean {
  const code = codeOf(error instanceof BenchError ? error.cause : error) ?? "";
  return ["ENOSPC", "EDQUOT", "EIO", "EMFILE"].includes(code);
}

/** Written when it says something new, so that an empty resume changes no byte and no time. */
async function writeEvaluation(job: FileJobFolder, text: string): Promise<void> {
  const bytes = await job.read(EVALUATION_FILE);
  if (bytes !== null && new TextDecoder().decode(bytes) === text) return;
  await job.write(EVALUATION_FILE, text);
}
