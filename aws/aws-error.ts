import { BenchError, messageOf } from "../core/errors.ts";
import { jsonField } from "./json-field.ts";

/** A refusal of S3, with its own name for it (`NoSuchKey`, `PreconditionFailed`). */
export class AwsError extends Error {
  override readonly name = "AwsError";
  readonly code: string;
  readonly status: number;

  constructor(found: { code: string; status: number; message: string }) {
    super(found.message);
    this.code = found.code;
    this.status = found.status;
  }
}

/** A service's own name for its refusal (`ExecutionAlreadyExists`), ours or its SDK's; null for what is none. */
export function refusalOf(
  error: unknown,
): { readonly code: string; readonly status: number } | null {
  if (error instanceof AwsError) return error;
  if (!(error instanceof Error)) return null;
  // The SDK loads when it is first asked for: what it throws is known by the field that its errors have.
  const status = jsonField(jsonField(error, "$metadata"), "httpStatusCode");
  return typeof status === "number" ? { code: error.name, status } : null;
}

/** The refusal as the error that crosses a border; a `BenchError` passes as it is. */
export function awsFailure(error: unknown, doing: string): BenchError {
  if (error instanceof BenchError) return error;
  const refusal = refusalOf(error);
  if (refusal === null) {
    return new BenchError("unavailable", `cannot ${doing}: ${messageOf(error)}`, {
      next: "check the connection, then run the same command again",
      cause: error,
    });
  }
  const { code, status } = refusal;
  const isDenied = status === 403 || /denied|unauthorized/iu.test(code);
  return new BenchError("unavailable", `cannot ${doing}: ${code}: ${messageOf(error)}`, {
    next: isDenied
      ? "use credentials that may do this, then run the same command again"
      : "run the same command again",
    cause: error,
  });
}
