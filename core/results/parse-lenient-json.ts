import { parseStrictJson } from "../outcome/parse-strict-json.ts";

export type LenientJson =
  | { readonly kind: "ok"; readonly value: unknown }
  | { readonly kind: "malformed"; readonly reason: string };

/**
 * Parses JSON that Python may have written: a bare `NaN` or `Infinity` is read as that number, so
 * that it makes the one value unusable and not the whole file (failures C-10).
 */
export function parseLenientJson(text: string): LenientJson {
  try {
    return { kind: "ok", value: JSON.parse(text) };
  } catch {
    // The slower parser knows those words, and says where a text is wrong.
    const parsed = parseStrictJson(text);
    if ("ok" in parsed) return { kind: "ok", value: parsed.ok.value };
    return { kind: "malformed", reason: `not valid JSON: ${parsed.refused.reason}` };
  }
}
