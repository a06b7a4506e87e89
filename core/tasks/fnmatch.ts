import type { CharRange, GlobToken } from "./glob-matcher.ts";
import { matchGlob } from "./glob-matcher.ts";

/**
 * Python's `fnmatch.fnmatchcase`: `*`, `?`, `[abc]`, `[a-z]`, `[!abc]`, over the whole name, case
 * counts. A `[` that is never closed stands for itself, and so does a backslash.
 */
export function fnmatch(name: string, pattern: string): boolean {
  return matchGlob(readTokens(Array.from(pattern)), name);
}

function readTokens(chars: readonly string[]): GlobToken[] {
  const tokens: GlobToken[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    const end = char === "[" ? endOfSet(chars, at) : -1;
    if (char === "*") tokens.push({ kind: "star", inSegment: false });
    else if (char === "?") tokens.push({ kind: "any", inSegment: false });
    else if (end === -1) tokens.push({ kind: "char", char });
    else {
      tokens.push(readSet(chars.slice(at + 1, end)));
      at = end;
    }
  }
  return tokens;
}

/** Index of the `]` that closes the set; one that comes first, or after `!`, is a member of it. */
function endOfSet(chars: readonly string[], open: number): number {
  const first = chars[open + 1] === "!" ? open + 2 : open + 1;
  return chars.indexOf("]", first + 1);
}

function readSet(inside: readonly string[]): GlobToken {
  const negated = inside[0] === "!";
  const members = negated ? inside.slice(1) : inside;
  const ranges: CharRange[] = [];
  for (let at = 0; at < members.length; at++) {
    const first = members[at] ?? "";
    const last = members[at + 2];
    if (members[at + 1] === "-" && last !== undefined) {
      ranges.push([first, last]);
      at += 2;
    } else ranges.push([first, first]);
  }
  return { kind: "set", negated, ranges };
}
