import { isRecord, parseJson } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";

/** Arguments as the object that most protocols want; a text that is none is kept as the model wrote it. */
export function argumentsObject(text: string): JsonRecord {
  const value = text.trim() === "" ? {} : parseJson(text);
  return isRecord(value) ? value : { arguments: text };
}
