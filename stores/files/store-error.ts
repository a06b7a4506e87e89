import { BenchError, messageOf } from "../../core/errors.ts";
import { codeOf } from "../../host/error-code.ts";

export function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

const REASONS = new Map([
  ["ENOSPC", "no space left on device"],
  ["EDQUOT", "the disk quota is used up"],
  ["EROFS", "the file system is read-only"],
  ["EACCES", "permission denied"],
  ["EPERM", "operation not permitted"],
  ["EMFILE", "too many open files"],
  ["EIO", "the disk failed"],
  ["ELOOP", "a link stands there, and links are not followed"],
  ["ENAMETOOLONG", "the name is too long"],
]);

/** What the operating system says, in words. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof BenchError ? error.cause : error;
  return REASONS.get(codeOf(cause)) ?? messageOf(cause);
}

/** An error of the disk as the one that leaves this folder; a `BenchError` passes as it is. */
export function storeError(error: unknown, doing: string, path: string): BenchError {
  if (error instanceof BenchError) return error;
  const isFull = codeOf(error) === "ENOSPC" || codeOf(error) === "EDQUOT";
  return new BenchError("unavailable", `cannot ${doing} ${path}: ${reasonOf(error)}`, {
    next: isFull
      ? "free some space, then run the same command again: it goes on where it stopped"
      : "make the folder usable, then run the same command again",
    cause: error,
  });
}
