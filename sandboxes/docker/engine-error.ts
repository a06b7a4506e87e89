import { SandboxError, type SandboxFailure } from "../../core/ports/sandbox.ts";

/** The daemon answered a request with an error status. It never leaves this folder. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The daemon did not answer at all: no socket, no right to it, hung up, too late. */
export function unreachable(endpoint: string, cause: unknown): SandboxError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SandboxError("backend-unavailable", `docker at ${endpoint}: ${reason}`, { cause });
}

/**
 * The one translation of what the daemon says into what callers act on. Statuses decide, not texts;
 * `fallback` is the meaning of a refusal in the place where it arose.
 */
export function asSandboxError(error: unknown, fallback: SandboxFailure, doing: string): unknown {
  if (!(error instanceof EngineError)) return error;
  const failure = error.status === 507 || isDiskFull(error.message) ? "disk-full" : fallback;
  return new SandboxError(failure, `${doing}: ${error.message}`, { cause: error });
}

/** The daemon passes the kernel's ENOSPC and EDQUOT on as text under status 500. */
export function isDiskFull(message: string): boolean {
  return /no space left on device|disk quota exceeded/iu.test(message);
}

export function hasStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof EngineError && statuses.includes(error.status);
}
