import { BenchError } from "../../core/errors.ts";
import { isTemporaryName } from "./temporary-name.ts";

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 2048;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/iu;

/**
 * The folders and the name of a relative path, as they are on disk. The path comes from tasks and
 * agents: one that is absolute, climbs with `..`, has an empty part, holds NUL or half a surrogate
 * pair or is too long is refused (`config`). What only Windows cannot store is escaped, reversibly.
 */
export function safeSegments(path: string): string[] {
  const segments = path.split("/");
  const problem = problemOf(path, segments);
  if (problem === null) return segments.map(escapeName);
  throw new BenchError("config", `path ${JSON.stringify(path.slice(0, 300))} ${problem}`, {
    next: "rename the file in the task, or let the agent write it elsewhere",
  });
}

/** A single folder or file name that must not be changed: it is refused where it is not safe. */
export function checkName(name: string): void {
  const [only, ...more] = safeSegments(name);
  if (more.length === 0 && only !== undefined && !isTemporaryName(name)) return;
  throw new BenchError("config", `${JSON.stringify(name)} is no plain folder or file name`, {
    next: "choose a name without a slash",
  });
}

/**
 * A name that Windows can store too: what it cannot is written as `%` and two hex digits, as are a
 * `%` that would read as such an escape, and names of our own temporary files.
 */
export function escapeName(name: string): string {
  const escaped = name
    .replaceAll(/%(?=[0-9a-f]{2})/giu, "%25")
    .replaceAll(/[<>:"|?*\\]|\p{Cc}/gu, percent)
    .replace(/[. ]$/u, percent);
  return DEVICE.test(escaped) || isTemporaryName(escaped)
    ? escaped.replace(/^./u, percent)
    : escaped;
}

export function unescapeName(name: string): string {
  return name.replaceAll(/%([0-9a-f]{2})/giu, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  );
}

function percent(character: string): string {
  return `%${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, "0")}`;
}

function problemOf(path: string, segments: readonly string[]): string | null {
  if (path.startsWith("/")) return "is absolute";
  if (path.includes("\0")) return "holds a NUL byte";
  if (/\p{Surrogate}/u.test(path)) return "is not Unicode";
  if (segments.includes("..")) return "leaves its folder";
  if (segments.some((segment) => segment === "" || segment === ".")) return "has an empty part";
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `has more than ${MAX_PATH_BYTES} bytes`;
  const long = segments.find((segment) => Buffer.byteLength(escapeName(segment)) > MAX_NAME_BYTES);
  return long === undefined ? null : `has a name of more than ${MAX_NAME_BYTES} bytes`;
}
