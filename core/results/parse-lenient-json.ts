export type ParsedJson =
  | { readonly kind: "ok"; readonly value: unknown }
  | { readonly kind: "malformed"; readonly reason: string };

/**
 * Parses JSON that Python may have written: bare `NaN`, `Infinity` and `-Infinity` outside of strings
 * are read as null, so that one such number does not make the whole file unreadable. Linear in the
 * length of the text.
 */
export function parseLenientJson(text: string): ParsedJson {
  const strict = tryParse(text);
  if (strict.kind === "ok") return strict;
  const patched = nullNonFinite(text);
  return patched === text ? strict : tryParse(patched);
}

function tryParse(text: string): ParsedJson {
  try {
    return { kind: "ok", value: JSON.parse(text) };
  } catch (error) {
    // V8 quotes the text around the fault, which can be long and hold line breaks.
    const cause = error instanceof Error ? error.message : String(error);
    return { kind: "malformed", reason: `not valid JSON: ${oneLine(cause, 160)}` };
  }
}

const NON_FINITE = ["-Infinity", "Infinity", "NaN"];

function nullNonFinite(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
    } else if (character === "N" || character === "I" || character === "-") {
      const word = NON_FINITE.find((candidate) => text.startsWith(candidate, at));
      if (word === undefined) continue;
      parts.push(text.slice(copied, at), "null");
      at += word.length - 1;
      copied = at + 1;
    }
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(copied);
}

/** Index of the quote that closes the string opened at `open`, or the text's last index. */
function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length - 1;
}

/** The text on one line, at most `maxLength` characters, for a reason that people read. */
export function oneLine(text: string, maxLength: number): string {
  const line = text
    .slice(0, maxLength * 4)
    .replaceAll(/\s+/gu, " ")
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}

/** A value as a reason shows it. What is not a scalar is named, never printed: it may be hostile. */
export function showValue(value: unknown): string {
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
