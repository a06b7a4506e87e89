/**
 * How Docker cuts the text after a keyword into flags, words and pairs. Behaviour as documented in
 * the Dockerfile reference and observed from BuildKit; quotes and escapes stay in the words, because
 * variable expansion needs to see them.
 */
const BLANK = /\s/u;

/** Words at unquoted, unescaped blanks; `"a b"` is one word and keeps its quotes. */
export function splitWords(text: string, escape: string): string[] {
  const words: string[] = [];
  let word = "";
  let started = false;
  let quote: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote === null && BLANK.test(char)) {
      if (started) words.push(word);
      word = "";
      started = false;
      continue;
    }
    started = true;
    if (char === escape && quote !== "'") {
      if (at + 1 === text.length) break;
      at++;
      word += char + text.charAt(at);
      continue;
    }
    word += char;
    if (quote === char) quote = null;
    else if (quote === null && (char === "'" || char === '"')) quote = char;
  }
  if (started && word !== "") words.push(word);
  return words;
}

/** Words at blanks only: `FROM`, `COPY`, `ADD`, `EXPOSE` and `VOLUME` know no quotes at this stage. */
export function splitAtBlanks(text: string): string[] {
  return text.split(/[\t\v\f\r ]+/u).filter((word) => word !== "");
}

export interface FlaggedText {
  readonly flags: readonly { readonly name: string; readonly value: string | null }[];
  /** What follows the flags, with no blanks at its ends. */
  readonly rest: string;
}

/** Takes `--name[=value]` words off the front; quotes and escapes inside a flag are resolved here. */
export function splitFlags(text: string): FlaggedText {
  const flags: { name: string; value: string | null }[] = [];
  let at = skipBlanks(text, 0);
  while (text.startsWith("--", at)) {
    const { word, end } = readFlagWord(text, at);
    at = skipBlanks(text, end);
    if (word === "--") break;
    const equals = word.indexOf("=");
    flags.push({
      name: word.slice(2, equals === -1 ? undefined : equals).toLowerCase(),
      value: equals === -1 ? null : word.slice(equals + 1),
    });
  }
  return { flags, rest: text.slice(at).trim() };
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && BLANK.test(text.charAt(at))) at++;
  return at;
}

function readFlagWord(text: string, from: number): { word: string; end: number } {
  let word = "";
  let quote: string | null = null;
  let at = from;
  for (; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote === null && BLANK.test(char)) break;
    if (char === "\\" && at + 1 < text.length) {
      at++;
      word += text.charAt(at);
    } else if (quote === char) quote = null;
    else if (quote === null && (char === "'" || char === '"')) quote = char;
    else word += char;
  }
  return { word, end: at };
}

/** An array of strings in JSON, or null when the text is not one: then Docker reads it as words. */
export function readJsonForm(text: string): readonly string[] | "not strings" | null {
  if (!text.trimStart().startsWith("[")) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Docker takes text that merely starts with a bracket as the shell form.
    return null;
  }
  if (!Array.isArray(parsed)) return null;
  const strings = parsed.filter((item): item is string => typeof item === "string");
  return strings.length === parsed.length ? strings : "not strings";
}
