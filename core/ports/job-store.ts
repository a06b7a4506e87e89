import type { SealCheck } from "../model/seal.ts";
import type { AttemptFolder } from "./attempt-folder.ts";

/** Where one job lies: a jobs folder (`<jobs>` or `<jobs>/<alias>/trial-NN`) and a name in it. */
export interface JobRef {
  readonly jobsDir: string;
  readonly jobName: string;
}

/** An attempt's folder as it was found. Its parsing is `readTrialResult`'s, its judging the plan's. */
export interface StoredAttempt {
  readonly rolloutName: string;
  /** Path for messages: the jobs folder as given, the job and the rollout name. */
  readonly path: string;
  /** Text of result.json; null when there is none: the attempt was started and never ended. */
  readonly result: string | null;
  /**
   * Of result.json alone: `intact` when seal.json holds its hash, `absent` without a seal, `broken`
   * when the two differ. All files: `checkSeal`.
   */
  readonly seal: SealCheck["state"];
  /** The seal was written by a later command, because the attempt's own was killed before it could. */
  readonly recovered?: boolean;
  /** Why result.json could not be read as text (a link, too large, not UTF-8), else null. */
  readonly problem: string | null;
  /** The agent's final workspace lies in `evidence/`. */
  readonly hasEvidence: boolean;
}

/** A job as it was found, read lazily: thousands of attempts never lie in memory at once. */
export interface StoredJob extends JobRef {
  /** The job folder's path for people and messages. */
  readonly dir: string;
  /** Text of evaluation.json, null when there is none. */
  readonly evaluation: string | null;
  /** Why evaluation.json could not be read, else null. */
  readonly evaluationProblem: string | null;
  /** True when something else than a job's own files lies in the folder and no attempt does. */
  readonly foreign: boolean;
  /** In order of rollout name. */
  attempts(): AsyncIterable<StoredAttempt>;
}

export interface OpenJobRequest extends JobRef {
  /**
   * `resume`: the folder exists. `new`: the folder must not exist. `new-automatic`: likewise, and when
   * the time that names it is taken, the next free second names it (failures C-3).
   */
  readonly mode: "resume" | "new" | "new-automatic";
  /** Text of evaluation.json; written when it differs from what is there. */
  readonly evaluation: string;
}

/**
 * A job folder that this process owns. Every call that writes first checks that the lease is still
 * ours and throws `BenchError` (`unavailable`) when it is not; when the medium fails likewise.
 */
export interface JobFolder extends JobRef {
  readonly dir: string;
  /** Names this acquisition of the lease: no other ever has the same. */
  readonly token: string;
  /** Aborted, with the `BenchError` as reason, as soon as a renewal finds that the lease is lost. */
  readonly lost: AbortSignal;
  /** Makes the attempt's folder and its `agent`, `verifier`, `artifacts` and `trajectory` folders. */
  openAttempt(rolloutName: string): Promise<AttemptFolder>;
  attempts(): AsyncIterable<StoredAttempt>;
  /** Replaces a file of the job itself, whole or not at all. */
  write(name: string, bytes: Uint8Array | string): Promise<void>;
  read(name: string): Promise<Uint8Array | null>;
  /**
   * Gives the lease back. A job folder that this call's owner made and that no attempt was started in
   * is removed again, with the empty folders made for it.
   */
  close(): Promise<void>;
}

/** Held by one process at a time; ends with it. */
export interface StartClaim {
  /** Idempotent. */
  release(): Promise<void>;
}

/** Where jobs are kept. Names and links inside are hostile: none is followed, none leaves the root. */
export interface JobStore {
  /** Throws `BenchError` (`usage`) when jobs cannot be made below `jobsDir`; creates nothing. */
  checkWritable(jobsDir: string): Promise<void>;
  /** Names of the folders directly below `jobsDir`, in byte order; none when it does not exist. */
  jobNames(jobsDir: string): Promise<readonly string[]>;
  readJob(ref: JobRef): Promise<StoredJob>;
  /**
   * The right to decide which job the runs of this name (their settings' digest) go on with, until that
   * job stands: of two commands that start at once, the second one finds the first one's job and pot.
   * Waits for a process that holds it; one that is dead does not. Throws `BenchError` (`usage`), naming
   * the process, when a minute was not enough, and what `signal` was aborted with.
   */
  claimStart(name: string, signal: AbortSignal): Promise<StartClaim>;
  /**
   * Takes the job's lease, and throws `BenchError` (`usage`) when another process may still hold it.
   * A resumed job is put in order first: leftovers of a killed writer go, a missing seal is written.
   */
  openJob(request: OpenJobRequest): Promise<JobFolder>;
  /** Every job below `root`, which may itself be one: plain and `<alias>/trial-NN/<job>`, in order. */
  listJobs(root: string): AsyncIterable<JobRef>;
  /** Hashes every file of an attempt against its seal. */
  checkSeal(ref: JobRef, rolloutName: string): Promise<SealCheck>;
  /** Replaces a file of a jobs folder (matrix-summary.json, the latest job's summary.json). */
  write(jobsDir: string, name: string, bytes: Uint8Array | string): Promise<void>;
}
