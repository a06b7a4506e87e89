import { BenchError } from "../errors.ts";

const AUTOMATIC = /^(\d{4})-(\d{2})-(\d{2})__(\d{2})-(\d{2})-(\d{2})$/u;
const MAX_NAME_BYTES = 200;

/** A job's name: the local time, `2026-11-04__18-24-21` (spec 1.1). Names sort as the times do. */
export function automaticJobName(at: Date): string {
  const date = [at.getFullYear(), at.getMonth() + 1, at.getDate()];
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()];
  return `${date.map(twoDigits).join("-")}__${time.map(twoDigits).join("-")}`;
}

/** Only folders named so are looked at when a run looks for the job to resume (spec 3.1). */
export function isAutomaticJobName(name: string): boolean {
  return AUTOMATIC.test(name);
}

/**
 * The name to try when the given one is taken: the next second. A suffix would make a name that
 * BenchFlow does not take for a time; a job's real start is in evaluation.json.
 */
export function nextAutomaticJobName(name: string): string {
  const parts = AUTOMATIC.exec(name)?.slice(1).map(Number) ?? [];
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts;
  // In UTC, where no hour is skipped or repeated: the name only has to be the next one.
  const next = new Date(Date.UTC(year, month - 1, day, hour, minute, second + 1));
  return next.toISOString().slice(0, 19).replace("T", "__").replaceAll(":", "-");
}

/** Throws `BenchError` (`usage`) for a `--job-name` that is not the name of one plain folder. */
export function checkJobName(name: string): void {
  const problem = problemOfJobName(name);
  if (problem === null) return;
  throw new BenchError("usage", `--job-name ${JSON.stringify(name)} ${problem}`, {
    next: "use a plain folder name such as `--job-name nightly`",
  });
}

function problemOfJobName(name: string): string | null {
  if (name === "") return "is empty";
  if (name.startsWith(".")) return "starts with a dot";
  if (/[/\\]/u.test(name)) return "holds a slash: --jobs-dir chooses the folder";
  if (/\p{Cc}/u.test(name)) return "holds a control character";
  if (/^trial-\d+$/u.test(name)) return "is the name of a repeat's folder";
  const sizeBytes = new TextEncoder().encode(name).length;
  return sizeBytes > MAX_NAME_BYTES ? `has ${sizeBytes} bytes, more than ${MAX_NAME_BYTES}` : null;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, "0");
}
