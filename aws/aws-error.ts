import { BenchError } from "../core/errors.ts";

/** A refusal of an AWS service, with its own name for it (`NoSuchKey`, `ExecutionAlreadyExists`). */
export class AwsError extends Error {
  override readonly name = "AwsError";
  readonly service: string;
  readonly code: string;
  readonly status: number;

  constructor(found: { service: string; code: string; status: number; message: string }) {
    super(found.message);
    this.service = found.service;
    this.code = found.code;
    this.status = found.status;
  }
}

/** The refusal as the error that crosses a border; a `BenchError` passes as it is. */
export function awsFailure(error: unknown, doing: string): BenchError {
  if (error instanceof BenchError) return error;
  if (!(error instanceof AwsError)) {
    const message = error instanceof Error ? error.message : String(error);
    return new BenchError("unavailable", `cannot ${doing}: ${message}`, {
      next: "check the connection, then run the same command again",
      cause: error,
    });
  }
  const isDenied = error.status === 403 || /denied|unauthorized/iu.test(error.code);
  return new BenchError("unavailable", `cannot ${doing}: ${error.code}: ${error.message}`, {
    next: isDenied
      ? "use credentials that may do this, then run the same command again"
      : "run the same command again",
    cause: error,
  });
}
