import { constants } from "node:fs";
import { access, rm, stat } from "node:fs/promises";
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
  StartClaim,
  StoredJob,
} from "../../core/ports/job-store.ts";
import { identifyProcess } from "../../host/process-identity.ts";
import { codeOf } from "../../host/error-code.ts";
import { FileJobFolder } from "./file-job-folder.ts";
import { Lease } from "./lease.ts";
import type { LeaseOptions } from "./lease.ts";
import { EVALUATION_FILE, findJobs, isForeign } from "./list-jobs.ts";
import { checkFolder, makeFolder, makePath, removeUnused } from "./make-folders.ts";
import { putInOrder, removeLeftBehind } from "./put-in-order.ts";
import { listEntries, listFolders, readAttempts } from "./read-attempts.ts";
import { readFileBytes } from "./read-file.ts";
import { checkName } from "./safe-path.ts";
import { checkSealOf } from "./seal-folder.ts";
import { takeStartClaim } from "./start-claim.ts";
import { isMissing, reasonOf, storeError } from "./store-error.ts";
import { temporaryName } from "./temporary-name.ts";
import { syncFolder, writeAtomic } from "./write-atomic.ts";

const MAX_EVALUATION_BYTES = 64 * 1024 * 1024;
const MAX_NAME_TRIES = 1000;

export interface FileJobStoreOptions {
  /** How long a job of an owner on another machine or in another container is left alone. */
  readonly leaseMs?: number;
  /** Of `identifyProcess`; this process by default. */
  readonly owner?: string;
  /** How long another command that is starting is waited for. */
  readonly claimWaitMs?: number;
}

/**
 * Jobs as folders below one jobs folder (spec 1). The path to that root may hold links, which are the
 * user's own; below it none is followed.
 */
export class FileJobStore implements JobStore {
  readonly #root: string;
  readonly #lease: LeaseOptions;
  readonly #claimWaitMs: number;
  /** Folders that a claim was the first to need; the next new job takes them away again if it can. */
  #madeForClaim: readonly string[] = [];

  constructor(root: string, options: FileJobStoreOptions = {}) {
    this.#root = root;
    this.#lease = {
      leaseMs: options.leaseMs ?? 120_000,
      owner: options.owner ?? identifyProcess(),
    };
    this.#claimWaitMs = options.claimWaitMs ?? 60_000;
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
    const names = await listFolders(this.#inRoot(jobsDir));
    return names.filter((name) => !name.startsWith(".")).toSorted(compareNames);
  }

  async readJob({ jobsDir, jobName }: JobRef): Promise<StoredJob> {
    const dir = this.#jobDir({ jobsDir, jobName });
    await checkFolder(dir);
    const found = readFileBytes(join(dir, EVALUATION_FILE), MAX_EVALUATION_BYTES);
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

  async claimStart(name: string, signal: AbortSignal): Promise<StartClaim> {
    const made: string[] = [];
    const makeDir = async (): Promise<void> => {
      made.push(...(await this.#makeJobsDir(this.#root)));
    };
    await makeDir();
    this.#madeForClaim = made;
    try {
      const options = { ...this.#lease, waitMs: this.#claimWaitMs, makeDir };
      const claim = await takeStartClaim(this.#root, name, options, signal);
      return {
        release: async () => {
          await claim.release();
          await removeUnused(made);
        },
      };
    } catch (error) {
      await removeUnused(made);
      throw error;
    }
  }

  async openJob(request: OpenJobRequest): Promise<JobFolder> {
    await removeLeftBehind(this.#root);
    await removeLeftBehind(this.#inRoot(request.jobsDir));
    return request.mode === "resume" ? await this.#resume(request) : await this.#make(request);
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

  async #resume(request: OpenJobRequest): Promise<JobFolder> {
    const dir = this.#jobDir(request);
    await checkFolder(dir);
    const lease = await Lease.take(dir, this.#lease);
    const job = new FileJobFolder({ ...request, dir }, lease, []);
    try {
      await putInOrder(dir);
      await writeEvaluation(job, request.evaluation);
      return job;
    } catch (error) {
      await job.close();
      throw storeError(error, "open", dir);
    }
  }

  /** A job appears under its name complete, with its evaluation and lease, or not at all. */
  async #make(request: OpenJobRequest): Promise<JobFolder> {
    const { jobsDir, evaluation } = request;
    checkName(request.jobName);
    const made = [...this.#madeForClaim, ...(await this.#makeJobsDir(jobsDir))];
    this.#madeForClaim = [];
    const temporary = join(jobsDir, temporaryName());
    let lease: Lease | null = null;
    try {
      await makeFolder(temporary);
      lease = await Lease.take(temporary, this.#lease);
      await writeAtomic(join(temporary, EVALUATION_FILE), evaluation, { syncFolder: true });
      const jobName = giveName(lease, request);
      await syncFolder(jobsDir);
      const dir = join(jobsDir, jobName);
      return new FileJobFolder({ jobsDir, jobName, dir }, lease, [...made, dir]);
    } catch (error) {
      await lease?.release();
      await rm(temporary, { recursive: true, force: true });
      await removeUnused(made);
      throw unmadeError(jobsDir, error);
    }
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
      throw unmadeError(jobsDir, error);
    }
  }
}

/** Gives the job the wanted name, or the next free second. The kernel lets one process have each. */
function giveName(lease: Lease, { jobsDir, jobName: wanted, mode }: OpenJobRequest): string {
  let jobName = wanted;
  for (let tries = 0; tries < MAX_NAME_TRIES; tries += 1) {
    try {
      lease.renameJob(join(jobsDir, jobName));
      return jobName;
    } catch (error) {
      if (!["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(codeOf(error))) throw error;
    }
    if (mode === "new") break;
    jobName = nextAutomaticJobName(jobName);
  }
  throw new BenchError("usage", `job ${join(jobsDir, jobName)} exists already`, {
    next: "choose another `--job-name`, or leave it out",
  });
}

async function checkUsable(path: string): Promise<void> {
  if (!(await stat(path)).isDirectory()) throw new Error("not a folder");
  await access(path, constants.W_OK | constants.X_OK);
}

/** A folder that cannot be made is a wrong flag; a disk that fails is not. */
function unmadeError(jobsDir: string, error: unknown): BenchError {
  if (error instanceof BenchError && error.kind !== "unavailable") return error;
  const code = codeOf(error instanceof BenchError ? error.cause : error);
  const isDiskFailure = ["ENOSPC", "EDQUOT", "EIO", "EMFILE"].includes(code);
  return isDiskFailure ? storeError(error, "make a job in", jobsDir) : notWritable(jobsDir, error);
}

function notWritable(jobsDir: string, error: unknown): BenchError {
  return new BenchError("usage", `no jobs can be written to ${jobsDir}: ${reasonOf(error)}`, {
    next: "choose a folder that you can write with `--jobs-dir DIR`",
    cause: error,
  });
}

/** Written when it says something new, so that an empty resume changes no byte and no time. */
async function writeEvaluation(job: FileJobFolder, text: string): Promise<void> {
  const bytes = await job.read(EVALUATION_FILE);
  if (bytes !== null && new TextDecoder().decode(bytes) === text) return;
  await job.write(EVALUATION_FILE, text);
}
