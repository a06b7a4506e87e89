import type { KeyPath, LocateKey, Place } from "./problem.ts";

/**
 * Finds the places of keys in TOML text that a parser has already accepted, which is what lets this
 * scanner be short: it only has to skip values, not to judge them.
 */
export function locateTomlKeys(text: string): LocateKey {
  const found = new TomlKeyScanner(text).scan();
  const lineStarts = [0, ...Array.from(text.matchAll(/\n/gu), ({ index }) => index + 1)];
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const offset = found.get(keyOf(path.slice(0, length)));
      if (offset !== undefined) return placeOf(offset, lineStarts);
    }
    return null;
  };
}

function keyOf(path: KeyPath): string {
  return JSON.stringify(path);
}

function placeOf(offset: number, lineStarts: readonly number[]): Place {
  let low = 0;
  let high = lineStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
}

/** One pass over the text; a class because every rule moves the same reading position. */
class TomlKeyScanner {
  readonly #text: string;
  readonly #found = new Map<string, number>();
  /** How many tables each `[[array]]` has so far. */
  readonly #lengths = new Map<string, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): ReadonlyMap<string, number> {
    let table: KeyPath = [];
    if (this.#text.startsWith("\uFEFF")) this.#at++;
    for (this.#skipBlanks(); this.#at < this.#text.length; this.#skipBlanks()) {
      if (this.#peek() === "[") table = this.#readHeader();
      else this.#readAssignment(table);
    }
    return this.#found;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #skipBlanks(): void {
    const blanks = /(?:[\s]|#[^\n]*)*/uy;
    blanks.lastIndex = this.#at;
    this.#at += blanks.exec(this.#text)?.[0].length ?? 0;
  }

  #readHeader(): KeyPath {
    const isArray = this.#text.startsWith("[[", this.#at);
    this.#at += isArray ? 2 : 1;
    const start = this.#at;
    const names = this.#readKey("]");
    this.#at += isArray ? 2 : 1;
    const path = this.#throughArrays(names, isArray);
    this.#note(path, start);
    return path;
  }

  /** A header's names with the position of the current table put after every `[[array]]`. */
  #throughArrays(names: readonly string[], isArray: boolean): KeyPath {
    const path: (string | number)[] = [];
    for (const [index, name] of names.entries()) {
      path.push(name);
      const key = keyOf(path);
      const count = this.#lengths.get(key) ?? 0;
      const begins = isArray && index === names.length - 1;
      if (begins) this.#lengths.set(key, count + 1);
      if (begins || count > 0) path.push(begins ? count : count - 1);
    }
    return path;
  }

  #readAssignment(table: KeyPath): void {
    const start = this.#at;
    const path = [...table, ...this.#readKey("=")];
    this.#at++;
    this.#note(path, start);
    this.#skipValue(path);
  }

  /** A parent is noted where it is first named, so that a missing key can be shown near it. */
  #note(path: KeyPath, offset: number): void {
    for (let length = 1; length <= path.length; length++) {
      const key = keyOf(path.slice(0, length));
      if (!this.#found.has(key)) this.#found.set(key, offset);
    }
  }

  #readKey(end: string): string[] {
    const names: string[] = [];
    while (this.#at < this.#text.length && this.#peek() !== end) {
      const char = this.#peek();
      if (char === '"' || char === "'") names.push(this.#readString());
      else if (/[\s.]/u.test(char)) this.#at++;
      else {
        const bare = /[^\s.=\]]+/uy;
        bare.lastIndex = this.#at;
        const name = bare.exec(this.#text)?.[0] ?? char;
        this.#at += name.length;
        names.push(name);
      }
    }
    return names;
  }

  #skipValue(path: KeyPath): void {
    this.#skipBlanks();
    const char = this.#peek();
    if (char === '"' || char === "'") this.#readString();
    else if (char === "[") this.#skipArray(path);
    else if (char === "{") this.#skipInlineTable(path);
    else while (this.#at < this.#text.length && !/[\n,\]}#]/u.test(this.#peek())) this.#at++;
  }

  #skipArray(path: KeyPath): void {
    this.#at++;
    let index = 0;
    for (this.#skipSeparators(); this.#at < this.#text.length; this.#skipSeparators()) {
      if (this.#peek() === "]") break;
      this.#note([...path, index], this.#at);
      this.#skipValue([...path, index]);
      index++;
    }
    this.#at++;
  }

  #skipInlineTable(path: KeyPath): void {
    this.#at++;
    for (this.#skipSeparators(); this.#at < this.#text.length; this.#skipSeparators()) {
      if (this.#peek() === "}") break;
      this.#readAssignment(path);
    }
    this.#at++;
  }

  #skipSeparators(): void {
    for (this.#skipBlanks(); this.#peek() === ","; this.#skipBlanks()) this.#at++;
  }

  /** Moves past a string and gives a one-line one's text; keys are never of the long form. */
  #readString(): string {
    const quote = this.#peek();
    const long = quote.repeat(3);
    const fence = this.#text.startsWith(long, this.#at) ? long : quote;
    const start = this.#at + fence.length;
    let end = start;
    while (end < this.#text.length && !this.#text.startsWith(fence, end)) {
      end += quote === '"' && this.#text.charAt(end) === "\\" ? 2 : 1;
    }
    this.#at = end + fence.length;
    // Up to two quotes may stand before the closing three.
    if (fence === long) while (this.#peek() === quote) this.#at++;
    const inside = this.#text.slice(start, end);
    return quote === '"' ? unescapeKey(inside) : inside;
  }
}

function unescapeKey(text: string): string {
  try {
    const parsed: unknown = JSON.parse(`"${text}"`);
    return typeof parsed === "string" ? parsed : text;
  } catch {
    // TOML has escapes that JSON lacks; such a key only loses its place, not its value.
    return text;
  }
}
