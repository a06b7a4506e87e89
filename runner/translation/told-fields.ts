import type { JsonRecord } from "../../core/usage/json-view.ts";

/** The fields that say something: those that are not null. */
export function told(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
