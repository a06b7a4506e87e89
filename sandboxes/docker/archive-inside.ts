import type { Command, Completed } from "../../core/ports/sandbox.ts";
import { workerLine } from "./exec-wrapper.ts";
import type { JobLine, RunLimits } from "./run-command.ts";
import { printfCommand, quoteWord } from "./shell-words.ts";

/** Runs a line in the supervisor's worker; null when that cannot take it now. */
export type RunInside = (line: JobLine, limits: RunLimits) => Promise<Completed | null>;

/** Archives up to here are gathered before they are sent: a task's tests, an instruction. */
export const SMALL_ARCHIVE_BYTES = 64 * 1024;

/** From here on the shells, which read byte by byte, need longer than the daemon does. */
const MAX_PRINT_CHARACTERS = 40_000;

/** What is packed at most before it is left to the daemon. */
const MAX_PACKED_BYTES = 128 * 1024;

const TAR_TIMEOUT_MS = 30_000;
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Unpacks an archive into a folder of the sandbox with the image's own tar, which costs a tenth of what
 * the daemon's does: it starts a process of its own program for each. False when it was not done, for
 * whatever reason; what may be there of it then is replaced by the daemon, which also has the reason.
 * The archive is in no command line, where others in the sandbox could read it.
 */
export async function unpackInside(
  run: RunInside,
  archive: Uint8Array,
  dir: string,
): Promise<boolean> {
  const print = printfCommand(archive);
  if (print.length > MAX_PRINT_CHARACTERS) return false;
  const line: JobLine = (id, { setsid }) => {
    const start = setsid === null ? "exec" : `exec ${setsid} --`;
    const unpack =
      `IFS=' ' read -r BENCH_P BENCH_R </proc/self/stat; say "j ${id} $BENCH_P"; ` +
      `exec >/dev/null 2>&3 3>&-; ${start} tar -xpf - -C ${quoteWord(dir)}`;
    return `begin ${id}; ( ${print} | ( ${unpack} ) ); finish ${id} $?`;
  };
  const done = await run(line, { cwd: "/", timeoutMs: TAR_TIMEOUT_MS, maxOutputBytes: 1024 });
  return done !== null && done.exitCode === 0 && !done.timedOut;
}

/** The exit code of tar stands in stderr: a pipe has that of its last program. */
const PACK_SCRIPT = `{ tar -cf - -C "$1" "$2" 2>/dev/null; printf %s "$?" >&2; } | head -c "$3"`;

/**
 * The archive of what lies at a path, made with the image's own tar; null when it is not small, or was
 * not made whole: then the daemon makes it. Nothing may change there meanwhile.
 */
export async function packInside(
  run: RunInside,
  parent: string,
  name: string,
): Promise<Uint8Array | null> {
  // A name that looks like an option of tar is the daemon's to pack.
  if (name.startsWith("-")) return null;
  const limit = String(MAX_PACKED_BYTES);
  const command: Command = {
    argv: ["/bin/sh", "-c", PACK_SCRIPT, "sh", parent, name, limit],
    uid: 0,
    cwd: "/",
    env: { PATH },
    timeoutMs: TAR_TIMEOUT_MS,
    maxOutputBytes: 2 * MAX_PACKED_BYTES,
  };
  const done = await run((id, { setsid }) => workerLine(id, command, setsid), command);
  if (done === null || done.exitCode !== 0 || done.timedOut || done.droppedBytes > 0) return null;
  const isWhole = new TextDecoder().decode(done.stderr) === "0" && isComplete(done.stdout);
  return isWhole ? done.stdout : null;
}

/** Whole blocks, fewer than were asked for at most, and the two empty ones that end every archive. */
function isComplete(archive: Uint8Array): boolean {
  const { byteLength } = archive;
  const isCut = byteLength >= MAX_PACKED_BYTES || byteLength < 1024 || byteLength % 512 !== 0;
  return !isCut && archive.subarray(-1024).every((byte) => byte === 0);
}
