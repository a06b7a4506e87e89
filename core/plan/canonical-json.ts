import type * as z from "zod";

export type Json = z.core.util.JSONType;

/**
 * JSON with keys sorted by code unit and no blanks, so that equal values have equal text. Throws a
 * `TypeError` on a number that JSON cannot hold.
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(",")}}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new TypeError(`no JSON number: ${value}`);
  }
  return JSON.stringify(value);
}
