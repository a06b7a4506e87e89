const MAX_DEPTH = 200;

/**
 * One line of JSON as Python's `json.dumps` writes it, which the jsonl files of the contract are
 * (spec 1.2): `", "` and `": "` between the parts. Strict JSON all the same: NaN and infinities
 * become null, undefined members are left out, and what nests deeper than 200 levels is replaced by
 * a text that says so, since agents choose how deep their messages nest.
 */
export function toPythonJson(value: unknown): string {
  return write(value, 0);
}

function write(value: unknown, depth: number): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (depth >= MAX_DEPTH) return `"[nested deeper than ${MAX_DEPTH} levels]"`;
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(", ")}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${JSON.stringify(key)}: ${write(member, depth + 1)}`);
  return `{${members.join(", ")}}`;
}
