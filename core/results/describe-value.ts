/** The text on one line, at most `maxLength` characters, for a reason that people read. */
export function oneLine(text: string, maxLength: number): string {
  const line = text
    .slice(0, maxLength * 4)
    .replaceAll(/\s+/gu, " ")
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}

/** A value as a reason shows it. What is not a scalar is named, never printed: it may be hostile. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "number") return String(value);
  return oneLine(JSON.stringify(value) ?? "nothing", 60);
}

/** How many arrays and objects lie inside each other; stops counting above `limit`. */
export function nestingDepth(value: unknown, limit: number): number {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= limit; depth += 1) {
    level = level.filter((item) => typeof item === "object" && item !== null);
    if (level.length === 0) return depth;
    level = level.flatMap((item) => Object.values(Object(item)));
  }
  return limit + 1;
}
