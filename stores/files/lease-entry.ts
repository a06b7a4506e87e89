import { hostname } from "node:os";
import * as z from "zod";
import { BenchError } from "../../core/errors.ts";
import { identifyProcess, processState } from "../../host/process-identity.ts";

/** `.evaluation.lock` and the lease's own file: BenchFlow's three keys first (spec 3.1), then ours. */
const LeaseHolder = z.object({
  pid: z.int(),
  host: z.string(),
  started_at: z.string(),
  owner: z.string().optional(),
  token: z.string().optional(),
  expires_at: z.string().optional(),
});
export type LeaseHolder = z.infer<typeof LeaseHolder>;

/** A lease in other hands. */
export interface Holding {
  /** `what` is already going on: `usage`, naming the process. */
  readonly refusal: (what: string) => BenchError;
}

const NAME = /^([0-9a-f]{32})\.(\d{1,15})$/u;

/** The name of a lease's file: whose it is and until when, so that both change in one renaming. */
export class LeaseEntry {
  readonly token: string;
  readonly #expiresMs: number;

  constructor(token: string, expiresMs: number) {
    this.token = token;
    this.#expiresMs = expiresMs;
  }

  static parse(name: string): LeaseEntry | null {
    const [, token, expiresMs] = NAME.exec(name) ?? [];
    return token === undefined ? null : new LeaseEntry(token, Number(expiresMs));
  }

  get name(): string {
    return `${this.token}.${this.#expiresMs}`;
  }

  get expiresAt(): string {
    return new Date(this.#expiresMs).toISOString();
  }

  /** An owner proven dead has, whatever the clock says; one that cannot be looked up, by the clock. */
  hasEnded(text: string): boolean {
    const state = processState(parseHolder(text)?.owner ?? "");
    return state === "dead" || (state === "unknown" && this.#expiresMs < Date.now());
  }

  /** `text`: the file's, which names its process. */
  holding(text: string): Holding {
    const holder = parseHolder(text);
    const isHere = processState(holder?.owner ?? "") === "alive";
    return { refusal: (what) => refusal(what, holder, isHere ? null : this.expiresAt) };
  }
}

/**
 * The refusal that BenchFlow's lock asks for, or null when it has ended or is a leftover of ours,
 * whose lease was just found free.
 */
export function readForeignLock(text: string, jobDir: string): BenchError | null {
  const holder = parseHolder(text);
  // Written without care by a process that was killed: nothing says that anyone works here.
  if (holder === null || holder.token !== undefined) return null;
  const running = `job ${jobDir} is already running`;
  if (holder.host !== hostname()) return refusal(running, holder, null);
  // A pid alone may have been given to another process since; then a person has to decide.
  const state = processState(identifyProcess(holder.pid));
  return state === "alive" ? refusal(running, holder, null) : null;
}

function refusal(what: string, holder: LeaseHolder | null, until: string | null): BenchError {
  const where = holder === null || holder.host === hostname() ? "" : ` on ${holder.host}`;
  const who = holder === null ? "another process" : `process ${holder.pid}${where}`;
  const next =
    until === null
      ? "wait for it to end, or pass --fresh for a new job"
      : `run the same command again after ${until}, or pass --fresh for a new job`;
  return new BenchError("usage", `${what} in ${who}`, { next });
}

function parseHolder(text: string): LeaseHolder | null {
  try {
    return LeaseHolder.parse(JSON.parse(text));
  } catch {
    // Not a holder's text: the caller decides by what else is known.
    return null;
  }
}
