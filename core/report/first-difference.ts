/** Where two JSON values first differ, in the order of the first one's keys. */
export interface Difference {
  /** `groups[0].counts.passed`; empty for the whole value. */
  readonly path: string;
  /** As JSON, cut to a line; `nothing` where there is no such key. */
  readonly found: string;
  readonly expected: string;
}

/** The first difference between what a file says and what was computed again; null for none. */
export function firstDifference(found: unknown, expected: unknown, path = ""): Difference | null {
  if (Array.isArray(found) && Array.isArray(expected)) {
    return inArrays(found, expected, path);
  }
  if (isObject(found) && isObject(expected)) {
    const keys = new Set([...Object.keys(found), ...Object.keys(expected)]);
    for (const key of keys) {
      const below = path === "" ? key : `${path}.${key}`;
      const difference = firstDifference(found[key], expected[key], below);
      if (difference !== null) return difference;
    }
    return null;
  }
  if (Object.is(found, expected)) return null;
  return { path, found: show(found), expected: show(expected) };
}

function inArrays(
  found: readonly unknown[],
  expected: readonly unknown[],
  path: string,
): Difference | null {
  for (let index = 0; index < Math.max(found.length, expected.length); index += 1) {
    const difference = firstDifference(found[index], expected[index], `${path}[${index}]`);
    if (difference !== null) return difference;
  }
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const MAX_SHOWN = 80;

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** The number of the first line that differs, from 1; null when the texts are equal. */
export function firstLineDifference(found: string, expected: string): number | null {
  if (found === expected) return null;
  const [lines, wanted] = [found.split("\n"), expected.split("\n")];
  const at = lines.findIndex((line, index) => line !== wanted[index]);
  return (at === -1 ? lines.length : at) + 1;
}
