import { isRecord, parseJson } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";

/** Arguments as the object that most protocols want; a text that is none is kept as it was written. */
export function argumentsObject(text: string): JsonRecord {
  const value = parseJson(text);
  return isRecord(value) ? value : { arguments: text };
}
