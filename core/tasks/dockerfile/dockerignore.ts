import type { CharRange, GlobToken } from "../glob-matcher.ts";
import { matchGlob } from "../glob-matcher.ts";

interface Pattern {
  readonly tokens: readonly GlobToken[];
  /** A `!` pattern takes back what an earlier one ignored. */
  readonly isException: boolean;
}

/** The rules of one `.dockerignore`, or of `COPY --exclude`. */
export interface IgnoreRules {
  readonly patterns: readonly Pattern[];
}

/** The files that may hold a context's rules, beside a Dockerfile of that name; the first one counts. */
export const IGNORE_FILES = ["Dockerfile.dockerignore", ".dockerignore"] as const;

const MAX_PATTERNS = 1000;

/**
 * Reads a `.dockerignore` as Docker does: `#` begins a comment only in the first column, blanks at
 * both ends are cut, paths are cleaned, a leading `/` means nothing, `**` is any number of folders.
 *
 * Throws a plain `Error` for a pattern that Docker refuses too, and for more than 1000 of them.
 */
export function parseDockerignore(text: string): IgnoreRules {
  const lines = text
    .replace(/^\uFEFF/u, "")
    .split("\n")
    .filter((line) => !line.startsWith("#"));
  return readIgnorePatterns(lines);
}

/** The rules for patterns given one by one. */
export function readIgnorePatterns(lines: readonly string[]): IgnoreRules {
  const patterns = lines.map((line) => readPattern(line)).filter((each) => each !== null);
  if (patterns.length > MAX_PATTERNS) {
    throw new Error(`${patterns.length} patterns, at most ${MAX_PATTERNS} are read`);
  }
  return { patterns };
}

/**
 * Whether a path (relative, `/` between parts) is left out. The last pattern that matches the path
 * or one of its parent folders decides.
 */
export function isIgnored(rules: IgnoreRules, path: string): boolean {
  const parts = path.split("/");
  const paths = parts.map((_, at) => parts.slice(0, at + 1).join("/")).toReversed();
  let ignored = false;
  for (const { tokens, isException } of rules.patterns) {
    if (isException !== ignored) continue;
    if (paths.some((each) => matchGlob(tokens, each))) ignored = !isException;
  }
  return ignored;
}

/** Whether anything below an ignored folder may still be taken back by a `!` pattern. */
export function hasExceptions(rules: IgnoreRules): boolean {
  return rules.patterns.some((pattern) => pattern.isException);
}

function readPattern(line: string): Pattern | null {
  const text = line.trim();
  if (text === "") return null;
  const isException = text.startsWith("!");
  const path = cleanPath((isException ? text.slice(1) : text).trim());
  if (path === "" || (isException && path === "/"))
    throw new Error(`illegal exclusion pattern: "${text}"`);
  const cleaned = path.length > 1 && path.startsWith("/") ? path.slice(1) : path;
  return { tokens: readTokens(cleaned), isException };
}

/** Resolves `.`, `..` and doubled slashes without looking at a disk; "" stays "". */
function cleanPath(path: string): string {
  if (path === "") return "";
  const isAbsolute = path.startsWith("/");
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!isAbsolute) parts.push("..");
  }
  return (isAbsolute ? "/" : "") + parts.join("/") || ".";
}

function readTokens(pattern: string): GlobToken[] {
  const chars = Array.from(pattern);
  const tokens: GlobToken[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    const next = chars[at + 1];
    if (char === "*" && next === "*") {
      const isFolders = chars[at + 2] === "/";
      const rest = chars.slice(at + 2).join("");
      // Docker reads `**b` as any path that ends in b, but `**b*` as `**/b*`.
      const isSuffix = at === 0 && !isFolders && !/[*?[\\]/u.test(rest);
      at += isFolders ? 2 : 1;
      const isLast = at + 1 === chars.length;
      tokens.push(isLast || isSuffix ? { kind: "star", inSegment: false } : { kind: "folders" });
    } else if (char === "*") tokens.push({ kind: "star", inSegment: true });
    else if (char === "?") tokens.push({ kind: "any", inSegment: true });
    else if (char === "[") at = readSet(chars, at, tokens);
    else if (char === "\\") {
      if (next === undefined) throw new Error(`pattern "${pattern}" ends in a backslash`);
      tokens.push({ kind: "char", char: next });
      at++;
    } else tokens.push({ kind: "char", char });
  }
  return tokens;
}

/** Reads `[a-z]`, `[^a-z]` and escapes in them as Go does; gives the index of the closing `]`. */
function readSet(chars: readonly string[], open: number, tokens: GlobToken[]): number {
  const bad = () =>
    new Error(`pattern "${chars.join("")}" has a set of characters that is malformed`);
  const negated = chars[open + 1] === "^";
  const ranges: CharRange[] = [];
  let at = open + (negated ? 2 : 1);
  const readChar = (): string => {
    const char = chars[at];
    if (char === undefined || char === "-" || char === "]") throw bad();
    if (char === "\\") at++;
    const member = chars[at];
    if (member === undefined) throw bad();
    at++;
    return member;
  };
  while (chars[at] !== "]" || ranges.length === 0) {
    const first = readChar();
    if (chars[at] !== "-") ranges.push([first, first]);
    else {
      at++;
      ranges.push([first, readChar()]);
    }
  }
  tokens.push({ kind: "set", negated, ranges });
  return at;
}
