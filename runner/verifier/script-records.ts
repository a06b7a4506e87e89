import { type Command, type Completed, SandboxError } from "../../core/ports/sandbox.ts";

/**
 * One record of a set-up or hardening script: a kind of ours and a value that may be a file name of
 * the agent's. The value is a string of bytes (latin1), so that any name survives the way out of
 * the sandbox and back in.
 */
export interface ScriptRecord {
  readonly kind: string;
  readonly value: string;
}

/** Every script walks file trees that the agent shaped; what takes longer is given up (spec 11.4). */
export const SCRIPT_TIMEOUT_MS = 180_000;

const SCRIPT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The command that runs one of our scripts as root, with its parameters and nothing else as environment. */
export function scriptCommand(
  script: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Command {
  return {
    argv: ["/bin/sh", "-c", script],
    uid: 0,
    cwd: "/",
    env: { PATH: SCRIPT_PATH, LC_ALL: "C", ...parameters },
    timeoutMs: SCRIPT_TIMEOUT_MS,
    maxOutputBytes: 16 * 1024 * 1024,
    signal,
  };
}

/** Splits what a script printed at its NULs. Anything before the first blank of a record is its kind. */
export function parseRecords(output: Uint8Array): readonly ScriptRecord[] {
  return Buffer.from(output)
    .toString("latin1")
    .split("\0")
    .filter((record) => record !== "")
    .map((record) => {
      const blank = record.indexOf(" ");
      return blank === -1
        ? { kind: record, value: "" }
        : { kind: record.slice(0, blank), value: record.slice(blank + 1) };
    });
}

/**
 * The records of a script that ran to its end. One that did not, or whose output was too much to be
 * kept whole, is a `start-failed` that says why; one that refused the sandbox is `unsupported`.
 */
export function recordsOf(completed: Completed, what: string): readonly ScriptRecord[] {
  const records = parseRecords(completed.stdout);
  const refused = records.find(({ kind }) => kind === "refused" || kind === "failed");
  if (completed.exitCode === 3 && refused !== undefined)
    throw new SandboxError(
      refused.kind === "refused" ? "unsupported" : "start-failed",
      `${what}: ${shownLine(refused.value)}`,
    );
  const whole = completed.droppedBytes === 0 && records.at(-1)?.kind === "done";
  if (completed.timedOut)
    throw new SandboxError("start-failed", `${what} took over ${SCRIPT_TIMEOUT_MS / 1000} s`);
  if (completed.exitCode !== 0 || !whole) {
    const last = shownLine(Buffer.from(completed.stderr).toString("latin1").trim());
    throw new SandboxError(
      "start-failed",
      `${what} exited with rc=${completed.exitCode}${last === "" ? "" : `: ${last}`}`,
    );
  }
  return records;
}

/** Values of one kind, in order. */
export function valuesOf(records: readonly ScriptRecord[], kind: string): readonly string[] {
  return records.filter((record) => record.kind === kind).map(({ value }) => value);
}

/** The last line of text that the sandbox may have written, harmless in a message. */
function shownLine(bytes: string): string {
  const line = bytes.split("\n").at(-1) ?? "";
  return line.replaceAll(/[^\x20-\x7e]/gu, "?").slice(-200);
}
