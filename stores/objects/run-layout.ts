import { BenchError } from "../../core/errors.ts";
import { checkName } from "../files/safe-path.ts";

/** A run's name is part of keys, of names in Step Functions (at most 80 characters) and of tags. */
const RUN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u;

/** What an attempt is in the store. Everything else of it follows from its seal. */
export const ATTEMPT_OBJECTS = {
  /** Its small files, as one archive. */
  small: "small.tar",
  result: "result.json",
  /** The last one: an attempt without it has not ended. */
  seal: "seal.json",
  /** What the first runner that works on it writes; another one stops. */
  claim: "claim.json",
} as const;

/** Files that are larger travel alone, under their hash. */
export const LARGE_FILE_BYTES = 1024 * 1024;

/** Keys of one run: `runs/<run>/…`. Throws `BenchError` (`usage`) for a name that cannot be one. */
export class RunLayout {
  readonly run: string;

  constructor(run: string) {
    if (!RUN_NAME.test(run)) {
      throw new BenchError("usage", `${JSON.stringify(run)} is no name for a run`, {
        next: "use up to 64 letters, digits, `.`, `_` and `-`, a letter or digit first",
      });
    }
    this.run = run;
  }

  /** What the map reads: one line a trial. */
  get items(): string {
    return `runs/${this.run}/items.json`;
  }

  /** What the run was asked to do. */
  get plan(): string {
    return `runs/${this.run}/plan.json`;
  }

  /** The job's own files, as a job folder has them. */
  get tree(): string {
    return `runs/${this.run}/tree/`;
  }

  get manifest(): string {
    return `runs/${this.run}/manifest.json`;
  }

  /** Everything that a runner needs to know of one attempt. */
  work(rolloutName: string): string {
    return `runs/${this.run}/work/${checkedName(rolloutName)}.json`;
  }

  jobFile(name: string): string {
    return `${this.tree}${checkedName(name)}`;
  }

  attempt(rolloutName: string): AttemptLayout {
    return new AttemptLayout(`${this.tree}${checkedName(rolloutName)}/`);
  }

  /** The attempt that a key belongs to; null for a key of the job itself, or of another shape. */
  attemptOf(key: string): { readonly rolloutName: string; readonly object: string } | null {
    if (!key.startsWith(this.tree)) return null;
    const [rolloutName, object, ...more] = key.slice(this.tree.length).split("/");
    if (rolloutName === undefined || object === undefined || more.length > 0) return null;
    return { rolloutName, object };
  }
}

/** Keys of one attempt. */
export class AttemptLayout {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  object(name: keyof typeof ATTEMPT_OBJECTS): string {
    return `${this.prefix}${ATTEMPT_OBJECTS[name]}`;
  }

  large(sha256: string): string {
    return `${this.prefix}large/${sha256}`;
  }
}

/** `tasks/sha256/<hex>.tar`: a task's folder under the hash of its archive, shared by all runs. */
export function taskBundleKey(sha256: string): string {
  return `tasks/sha256/${sha256}.tar`;
}

function checkedName(name: string): string {
  checkName(name);
  return name;
}
