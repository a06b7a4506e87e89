/** A JSON value. Numbers may be infinite or NaN; `nonFinite` of the parse says so. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

export interface ParsedJson {
  readonly value: JsonValue;
  /**
   * Where a number stands that no strict reader can hold: a bare `NaN` or `Infinity`, or one that
   * overflows like `1e400`. Null when there is none.
   */
  readonly nonFinite: string | null;
}

/** Why a text is not strict JSON, with the position as `line:column`. */
export interface JsonRefusal {
  readonly reason: string;
  readonly duplicateKey: string | null;
}

export const MAX_JSON_DEPTH = 64;

/**
 * JSON (RFC 8259) as Python's json module reads it, so `NaN` and `Infinity` parse and are reported,
 * with one rule more: an object that names a key twice is refused, because two readers would
 * disagree about its value (failures C-25). Nesting deeper than `MAX_JSON_DEPTH` is refused. `-0`
 * becomes 0. Never throws.
 */
export function parseStrictJson(
  text: string,
): { readonly ok: ParsedJson } | { readonly refused: JsonRefusal } {
  const scanner = new JsonScanner(text);
  try {
    return { ok: scanner.document() };
  } catch (thrown) {
    if (thrown instanceof Refusal)
      return { refused: { reason: thrown.message, duplicateKey: thrown.duplicateKey } };
    throw thrown;
  }
}

class Refusal extends Error {
  readonly duplicateKey: string | null;

  constructor(message: string, duplicateKey: string | null) {
    super(message);
    this.duplicateKey = duplicateKey;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/uy;
const WORD = /-?[A-Za-z]+/uy;
// A string's end is found by hand; what lies between is left to JSON.parse, which knows the escapes.
const WORDS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

class JsonScanner {
  readonly #text: string;
  #at = 0;
  #nonFinite: string | null = null;
  readonly #path: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  document(): ParsedJson {
    const value = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#refuse("text after the end of the document");
    return { value, nonFinite: this.#nonFinite };
  }

  #value(): JsonValue {
    this.#skipSpace();
    const next = this.#text[this.#at];
    if (next === "{") return this.#nested(() => this.#object());
    if (next === "[") return this.#nested(() => this.#array());
    if (next === '"') return this.#string();
    return this.#scalar();
  }

  #nested<T>(parse: () => T): T {
    if (this.#path.length >= MAX_JSON_DEPTH)
      throw this.#refuse(`nesting deeper than ${MAX_JSON_DEPTH} levels`);
    this.#at += 1;
    this.#path.push("");
    const value = parse();
    this.#path.pop();
    return value;
  }

  #object(): JsonObject {
    const entries = new Map<string, JsonValue>();
    if (this.#took("}")) return {};
    do {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') throw this.#refuse("a key in double quotes is missing");
      const keyAt = this.#at;
      const key = this.#string();
      if (entries.has(key)) throw this.#refuseTwice(key, keyAt);
      this.#path[this.#path.length - 1] = key;
      if (!this.#took(":")) throw this.#refuse("a colon is missing");
      entries.set(key, this.#value());
    } while (this.#took(","));
    if (!this.#took("}")) throw this.#refuse("a comma or a closing brace is missing");
    // fromEntries defines own properties, so that a key like `__proto__` stays a mere key.
    return Object.fromEntries(entries);
  }

  #array(): readonly JsonValue[] {
    const items: JsonValue[] = [];
    if (this.#took("]")) return items;
    do {
      this.#path[this.#path.length - 1] = String(items.length);
      items.push(this.#value());
    } while (this.#took(","));
    if (!this.#took("]")) throw this.#refuse("a comma or a closing bracket is missing");
    return items;
  }

  #string(): string {
    let end = this.#at + 1;
    for (;;) {
      const unit = this.#text[end];
      if (unit === undefined) throw this.#refuse("a string does not end");
      if (unit === '"') break;
      end += unit === "\\" ? 2 : 1;
    }
    const quoted = this.#text.slice(this.#at, end + 1);
    try {
      const text: unknown = JSON.parse(quoted);
      if (typeof text !== "string") throw new SyntaxError("not a string");
      this.#at = end + 1;
      return text;
    } catch {
      // JSON.parse only tells that the string is wrong; the position is ours.
      throw this.#refuse("a string holds a bad escape or a control character");
    }
  }

  #scalar(): JsonValue {
    const digits = this.#match(NUMBER);
    if (digits !== null) return this.#finite(Number(digits));
    const word = this.#match(WORD);
    const value = word === null ? undefined : WORDS.get(word);
    if (value === undefined) throw this.#refuse("a value is missing");
    return typeof value === "number" ? this.#finite(value) : value;
  }

  #finite(value: number): number {
    if (!Number.isFinite(value)) this.#nonFinite ??= this.#path.join(".") || "the document";
    return value === 0 ? 0 : value;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined || found === "") return null;
    this.#at += found.length;
    return found;
  }

  #took(mark: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    while (" \t\n\r".includes(this.#text[this.#at] ?? "x")) this.#at += 1;
  }

  #refuseTwice(key: string, at: number): Refusal {
    this.#at = at;
    return this.#refuse("a key stands twice", key);
  }

  #refuse(what: string, duplicateKey: string | null = null): Refusal {
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    const column = this.#at - (before.lastIndexOf("\n") + 1) + 1;
    return new Refusal(`${line}:${column}: ${what}`, duplicateKey);
  }
}
