/** Where one member of a JSON object stands in its text. */
export interface JsonMember {
  readonly key: string;
  readonly valueStart: number;
  readonly valueEnd: number;
}

const SPACE = /[\t\n\r ]*/uy;
const SCALAR = /[^\t\n\r ,\]}]+/uy;

/**
 * The members of the object that starts at `from` in a text which is known to be valid JSON. A key that
 * stands twice is given twice. Work is linear, depth costs no stack.
 */
export function jsonMembers(text: string, from = 0): JsonMember[] {
  const members: JsonMember[] = [];
  let at = skipSpace(text, from);
  if (text[at] !== "{") return members;
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] !== "}") {
    const keyEnd = stringEnd(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    members.push({ key: String(key), valueStart, valueEnd });
    at = skipSpace(text, valueEnd);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return members;
}

/** The same object with some members' values replaced or added; every other byte stays as it was. */
export function withMembers(text: string, edits: ReadonlyMap<string, string>): string {
  const members = jsonMembers(text);
  const missing = new Map(edits);
  let result = "";
  let copied = 0;
  for (const { key, valueStart, valueEnd } of members) {
    const value = edits.get(key);
    if (value === undefined) continue;
    missing.delete(key);
    result += text.slice(copied, valueStart) + value;
    copied = valueEnd;
  }
  const close = text.lastIndexOf("}");
  result += text.slice(copied, close);
  let separator = members.length > 0 ? "," : "";
  for (const [key, value] of missing) {
    result += `${separator}${JSON.stringify(key)}:${value}`;
    separator = ",";
  }
  return result + text.slice(close);
}

/** The first key that stands twice at the top of an object: two readers would disagree about it. */
export function doubledKey(members: readonly JsonMember[]): string | null {
  const seen = new Set<string>();
  for (const { key } of members) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return null;
}

/** Where the string at a path of keys stands, quotes included; null when there is none. */
export function stringSpan(
  text: string,
  path: readonly string[],
): { readonly start: number; readonly end: number } | null {
  let from = 0;
  let span: { start: number; end: number } | null = null;
  for (const key of path) {
    const member = jsonMembers(text, from).findLast((candidate) => candidate.key === key);
    if (member === undefined) return null;
    from = member.valueStart;
    span = { start: member.valueStart, end: member.valueEnd };
  }
  return span !== null && text[span.start] === '"' ? span : null;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return stringEnd(text, start);
  if (first !== "{" && first !== "[") return scan(SCALAR, text, start);
  let depth = 0;
  let at = start;
  do {
    const character = text[at];
    if (character === '"') {
      at = stringEnd(text, at);
      continue;
    }
    if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    at += 1;
  } while (depth > 0 && at < text.length);
  return at;
}

/** One past the closing quote of the string that opens at `start`. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function skipSpace(text: string, at: number): number {
  return scan(SPACE, text, at);
}

function scan(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
