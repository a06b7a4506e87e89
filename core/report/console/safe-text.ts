/**
 * Texts of tasks, agents and verifiers reach the terminal only through here. What would move the
 * cursor, change colours, hide or reorder what stands beside it (control characters, escape
 * sequences, direction marks, lone surrogates) is written out, so that it is seen instead of obeyed.
 */
export function showSafely(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escapeCharacter);
}

const NAMED = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function escapeCharacter(character: string): string {
  const named = NAMED.get(character);
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
}

/** How many characters a text takes, counted by code points. */
export function widthOf(text: string): number {
  return Array.from(text).length;
}

/** The text made safe and cut: at most `maxLength` characters and a mark when there were more. */
export function showCut(text: string, maxLength: number): string {
  // A megabyte of text is not taken apart for the sake of its first fifty characters.
  const characters = Array.from(showSafely(text.slice(0, 4 * maxLength)));
  if (characters.length <= maxLength) return characters.join("");
  return `${characters.slice(0, maxLength).join("")}…`;
}

/** Names as a list, the first `most` of them and how many more there are. */
export function listNames(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).map(showSafely).join(", ");
  const more = names.length - most;
  return more > 0 ? `${shown} and ${more} more` : shown;
}
