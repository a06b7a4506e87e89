/** A place in a text file, 1-based. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Keys and list positions from the root to a value. */
export type KeyPath = readonly (string | number)[];

/** Finds where a key stands in its file; falls back to the nearest parent that has a place. */
export type LocateKey = (path: KeyPath) => Place | null;

/** What is wrong in a task's files. */
export interface Problem {
  /** Relative to the task's folder. */
  readonly file: string;
  readonly place: Place | null;
  /** What, value, rule: `agent.timeout_sec is -5, it must be more than 0`. */
  readonly message: string;
}

/** `file:line:column: message`; place and value are in the text, so it can be printed as it is. */
export function formatProblem({ file, place, message }: Problem): string {
  return place === null
    ? `${file}: ${message}`
    : `${file}:${place.line}:${place.column}: ${message}`;
}

/** Orders problems of one file as they stand in it, those without a place last. */
export function comparePlaces({ place: a }: Problem, { place: b }: Problem): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a.line - b.line || a.column - b.column;
}

/** `sandbox.mcp_servers[0].url` */
export function formatPath(path: KeyPath): string {
  return path
    .map((part, at) => (typeof part === "number" ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join("");
}

const MAX_SHOWN_CHARACTERS = 60;

/** A value on one line, short, with control characters made visible. */
export function showValue(value: unknown): string {
  const isOdd = typeof value === "number" && !Number.isFinite(value);
  const text = isOdd ? String(value) : (JSON.stringify(value) ?? String(value));
  const visible = text.replaceAll(/[\u007f-\u009f\u2028-\u202f\u2060-\u206f]/gu, "\uFFFD");
  return visible.length <= MAX_SHOWN_CHARACTERS
    ? visible
    : `${visible.slice(0, MAX_SHOWN_CHARACTERS - 1)}…`;
}

/** A file read into plain data, with the places of its keys. */
export type ReadDocument =
  | { readonly kind: "read"; readonly value: Record<string, unknown>; readonly locate: LocateKey }
  | { readonly kind: "invalid"; readonly problem: Problem };
