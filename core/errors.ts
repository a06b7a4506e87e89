/**
 * What the person must change. `usage`: a flag or value; `config`: a task, file or setting;
 * `unavailable`: a service, disk or daemon; `interrupted`: they stopped it; `bug`: ours.
 */
export type ErrorKind = "usage" | "config" | "unavailable" | "interrupted" | "bug";

/**
 * The only error class that crosses a module boundary. `message` says what happened and shows the
 * offending value (lower case, no full stop); `next` says the one thing to do about it, a command
 * where there is one.
 */
export class BenchError extends Error {
  override readonly name = "BenchError";
  readonly kind: ErrorKind;
  readonly next: string;

  constructor(kind: ErrorKind, message: string, options: { next: string; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.next = options.next;
  }

  /** Worth trying again with nothing changed. */
  get retryable(): boolean {
    return this.kind === "unavailable";
  }
}

/** The text of anything that was thrown; hostile code can throw what is not an Error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
