/**
 * What a TOML or YAML parser gave as JSON-like data: dates become their text, tables plain objects,
 * keys that could reach an object's prototype are left out. Throws for data nested
 * deeper than 64 levels, which includes a YAML value that contains itself.
 */
export function toPlainData(value: unknown): Record<string, unknown> {
  const plain = plainOf(value, 0);
  return isRecord(plain) ? plain : {};
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const MAX_DEPTH = 64;

function plainOf(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Error(`more than ${MAX_DEPTH} levels of nesting`);
  if (Array.isArray(value)) return value.map((each) => plainOf(each, depth + 1));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  if (typeof value === "bigint") return Number(value);
  if (!isRecord(value)) return value;
  const out: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    if (key !== "__proto__") out[key] = plainOf(each, depth + 1);
  }
  return out;
}
