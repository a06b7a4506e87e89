import { createHash } from "node:crypto";
import { BenchError } from "../../core/errors.ts";
import { Seal } from "../../core/model/seal.ts";
import type { SealCheck } from "../../core/model/seal.ts";
import { compareNames } from "../../core/plan/compare-names.ts";
import { nextAutomaticJobName } from "../../core/plan/job-name.ts";
import type { AppendFile, AttemptFolder } from "../../core/ports/attempt-folder.ts";
import type {
  JobFolder,
  JobRef,
  JobStore,
  OpenJobRequest,
  StartClaim,
  StoredAttempt,
  StoredJob,
} from "../../core/ports/job-store.ts";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import { checkName, safeSegments } from "../../stores/files/safe-path.ts";
import { claimIn, emptyDisk, type MemoryDisk, type MemoryJob } from "./memory-disk.ts";
import { namesBelow } from "./names-below.ts";

/** A `JobStore` in memory, which keeps the same contract as the one on disk. */
export class MemoryJobStore implements JobStore {
  readonly disk: MemoryDisk;
  /** Throw for a path to fail its write, as a full disk would. */
  beforeWrite: (path: string) => void = () => undefined;

  constructor(disk: MemoryDisk = emptyDisk()) {
    this.disk = disk;
  }

  async checkWritable(): Promise<void> {
    this.beforeWrite("");
  }

  async jobNames(jobsDir: string): Promise<readonly string[]> {
    return namesBelow(jobsDir, this.disk.jobs.values());
  }

  async readJob(ref: JobRef): Promise<StoredJob> {
    const job = this.#job(ref);
    return {
      jobsDir: ref.jobsDir,
      jobName: ref.jobName,
      dir: pathOf(ref),
      evaluation: textOf(job.files.get("evaluation.json")),
      evaluationProblem: null,
      foreign: false,
      attempts: () => attemptsOf(job),
    };
  }

  async claimStart(name: string, signal: AbortSignal): Promise<StartClaim> {
    checkName(name);
    return await claimIn(this.disk, name, signal);
  }

  async openJob(request: OpenJobRequest): Promise<JobFolder> {
    const isNew = request.mode !== "resume";
    const job = isNew ? this.#newJob(request) : this.#job(request);
    if (job.owner !== null)
      throw refusal(`job ${pathOf(job)} is already running in another process`);
    job.owner = `token ${Math.random()}`;
    job.files.set("evaluation.json", bytesOf(request.evaluation));
    return new MemoryJobFolder(this, job, isNew);
  }

  async *listJobs(root: string): AsyncIterable<JobRef> {
    const isBelow = ({ jobsDir }: JobRef): boolean => `${jobsDir}/`.startsWith(`${root}/`);
    const jobs = [...this.disk.jobs.values()].filter(isBelow);
    const sorted = jobs.toSorted((a, b) => compareNames(pathOf(a), pathOf(b)));
    yield* sorted.map(({ jobsDir, jobName }) => ({ jobsDir, jobName }));
  }

  async checkSeal(ref: JobRef, rolloutName: string): Promise<SealCheck> {
    const files = this.#job(ref).attempts.get(rolloutName) ?? new Map<string, Uint8Array>();
    const text = textOf(files.get("seal.json"));
    if (text === null) return { state: "absent", problems: [], extra: [] };
    const sealed = new Map(Seal.parse(JSON.parse(text)).files.map((file) => [file.path, file]));
    const problems = [...sealed.values()].flatMap(({ path, sha256: expected }) => {
      const bytes = files.get(path);
      if (bytes === undefined) return [`${path} is missing`];
      return sha256(bytes) === expected ? [] : [`${path} has other bytes than sealed`];
    });
    const extra = [...files.keys()].filter((path) => path !== "seal.json" && !sealed.has(path));
    return { state: problems.length === 0 ? "intact" : "broken", problems, extra };
  }

  async write(jobsDir: string, name: string, bytes: Uint8Array | string): Promise<void> {
    checkName(name);
    this.beforeWrite(`${jobsDir}/${name}`);
    this.disk.files.set(`${jobsDir}/${name}`, bytesOf(bytes));
  }

  #job(ref: JobRef): MemoryJob {
    const job = this.disk.jobs.get(pathOf(ref));
    if (job === undefined) throw unavailable(`cannot use ${pathOf(ref)}: there is no such job`);
    return job;
  }

  #newJob({ jobsDir, jobName: wanted, mode }: OpenJobRequest): MemoryJob {
    checkName(wanted);
    const isTaken = (name: string): boolean =>
      this.disk.jobs.has(pathOf({ jobsDir, jobName: name }));
    let jobName = wanted;
    if (mode === "new-automatic") while (isTaken(jobName)) jobName = nextAutomaticJobName(jobName);
    const path = pathOf({ jobsDir, jobName });
    if (isTaken(jobName)) throw refusal(`job ${path} exists already`);
    this.beforeWrite(path);
    const job = { jobsDir, jobName, files: new Map(), attempts: new Map(), owner: null };
    this.disk.jobs.set(path, job);
    return job;
  }
}

class MemoryJobFolder implements JobFolder {
  readonly jobsDir: string;
  readonly jobName: string;
  readonly dir: string;
  readonly token: string;
  readonly #lost = new AbortController();
  readonly #store: MemoryJobStore;
  readonly #job: MemoryJob;
  readonly #isNew: boolean;

  constructor(store: MemoryJobStore, job: MemoryJob, isNew: boolean) {
    this.jobsDir = job.jobsDir;
    this.jobName = job.jobName;
    this.dir = pathOf(job);
    this.token = job.owner ?? "";
    this.#store = store;
    this.#job = job;
    this.#isNew = isNew;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async openAttempt(rolloutName: string): Promise<AttemptFolder> {
    checkName(rolloutName);
    this.#checkLease(rolloutName);
    if (this.#job.attempts.has(rolloutName)) throw bug(`attempt ${rolloutName} exists already`);
    this.#job.attempts.set(rolloutName, new Map());
    return new MemoryAttemptFolder(this.#job, rolloutName, (path) => {
      this.#checkLease(`${rolloutName}/${path}`);
    });
  }

  attempts(): AsyncIterable<StoredAttempt> {
    return attemptsOf(this.#job);
  }

  async write(name: string, bytes: Uint8Array | string): Promise<void> {
    checkName(name);
    this.#checkLease(name);
    this.#job.files.set(name, bytesOf(bytes));
  }

  async read(name: string): Promise<Uint8Array | null> {
    return this.#job.files.get(name) ?? null;
  }

  async close(): Promise<void> {
    if (this.#job.owner !== this.token) return;
    this.#job.owner = null;
    if (this.#isNew && this.#job.attempts.size === 0) this.#store.disk.jobs.delete(this.dir);
  }

  #checkLease(path: string): void {
    if (this.#job.owner !== this.token) {
      this.#lost.abort(unavailable(`job ${this.dir} was taken over by another process`));
    }
    this.#lost.signal.throwIfAborted();
    this.#store.beforeWrite(`${this.dir}/${path}`);
  }
}

class MemoryAttemptFolder implements AttemptFolder {
  readonly rolloutName: string;
  readonly #job: MemoryJob;
  readonly #beforeWrite: (path: string) => void;

  constructor(job: MemoryJob, rolloutName: string, beforeWrite: (path: string) => void) {
    this.rolloutName = rolloutName;
    this.#job = job;
    this.#beforeWrite = beforeWrite;
  }

  async write(path: string, bytes: Uint8Array | string): Promise<void> {
    this.#files().set(this.#place(path), bytesOf(bytes));
  }

  async writeStream(path: string, bytes: ByteStream): Promise<void> {
    const place = this.#place(path);
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes) chunks.push(chunk);
    this.#files().set(place, Buffer.concat(chunks));
  }

  async append(path: string): Promise<AppendFile> {
    const place = this.#place(path);
    const append = (bytes: Uint8Array): void => {
      this.#beforeWrite(path);
      this.#files().set(place, Buffer.concat([this.#files().get(place) ?? Buffer.alloc(0), bytes]));
    };
    append(Buffer.alloc(0));
    return {
      append: async (bytes) => {
        append(bytes);
      },
      close: async () => undefined,
    };
  }

  async mkdir(path: string): Promise<void> {
    this.#place(path);
  }

  async *readFrom(rolloutName: string, path: string): ByteStream {
    checkName(rolloutName);
    const place = safeSegments(path).join("/");
    const bytes = this.#job.attempts.get(rolloutName)?.get(place);
    if (bytes === undefined) throw unavailable(`cannot read ${rolloutName}/${path}: not there`);
    yield bytes;
  }

  async seal(result: Uint8Array | string): Promise<void> {
    await this.write("result.json", result);
    const files = [...this.#files()].map(([path, bytes]) => ({
      path,
      size: bytes.length,
      sha256: sha256(bytes),
    }));
    await this.write("seal.json", JSON.stringify({ schema_version: 1, files }));
  }

  #files(): Map<string, Uint8Array> {
    return this.#job.attempts.get(this.rolloutName) ?? new Map();
  }

  #place(path: string): string {
    const place = safeSegments(path).join("/");
    if (this.#files().has("seal.json")) throw bug(`attempt ${this.rolloutName} is sealed`);
    this.#beforeWrite(path);
    return place;
  }
}

async function* attemptsOf(job: MemoryJob): AsyncGenerator<StoredAttempt> {
  const sorted = [...job.attempts].toSorted(([a], [b]) => compareNames(a, b));
  for (const [rolloutName, files] of sorted) {
    yield {
      rolloutName,
      path: `${pathOf(job)}/${rolloutName}`,
      result: textOf(files.get("result.json")),
      seal: sealStateOf(files),
      problem: null,
      hasEvidence: [...files.keys()].some((path) => path.startsWith("evidence/")),
    };
  }
}

/** Of result.json alone, as on disk. */
function sealStateOf(files: ReadonlyMap<string, Uint8Array>): StoredAttempt["seal"] {
  const seal = textOf(files.get("seal.json"));
  if (seal === null) return "absent";
  const sealed = Seal.parse(JSON.parse(seal)).files.find(({ path }) => path === "result.json");
  const result = files.get("result.json") ?? Buffer.alloc(0);
  return sealed?.sha256 === sha256(result) ? "intact" : "broken";
}

const pathOf = ({ jobsDir, jobName }: JobRef): string => `${jobsDir}/${jobName}`;

const bytesOf = (bytes: Uint8Array | string): Uint8Array => Buffer.from(bytes);

const textOf = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : new TextDecoder().decode(bytes);

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const refusal = (message: string): BenchError =>
  new BenchError("usage", message, { next: "wait for it to end" });

const unavailable = (message: string): BenchError =>
  new BenchError("unavailable", message, { next: "run the same command again" });

const bug = (message: string): BenchError =>
  new BenchError("bug", message, { next: "report this" });
