import { secretForms } from "./secret-encodings.ts";
import { PLACEHOLDER, isSecretField, withoutShapes } from "./secret-shapes.ts";

/** Deeper than any protocol nests; a bound, so that hostile nesting costs no stack. */
const MAX_DEPTH = 64;
const MAX_PASSES = 16;

/**
 * Takes secrets out of what is written to disk: the known ones by value, in every encoding, and others
 * by their shapes (spec 12.2). Works on values before they are serialised, since a cut in serialised
 * text would break its escapes. What it has redacted once it leaves as it is.
 */
export class Redactor {
  readonly #secrets: readonly string[];
  readonly #later: readonly string[];
  #known: { readonly count: number; readonly forms: readonly string[] };

  /** `later` may grow while it is in use, as tokens are renewed. */
  constructor(secrets: readonly string[], later: readonly string[] = []) {
    this.#secrets = secrets;
    this.#later = later;
    this.#known = { count: later.length, forms: secretForms([...secrets, ...later]) };
  }

  get #forms(): readonly string[] {
    const { length: count } = this.#later;
    if (count !== this.#known.count)
      this.#known = { count, forms: secretForms([...this.#secrets, ...this.#later]) };
    return this.#known.forms;
  }

  /** Only what is known by value, for text that goes on to an agent: shapes may be its own. */
  knownIn(text: string): string {
    let result = text;
    for (const form of this.#forms)
      if (result.includes(form)) result = result.replaceAll(form, PLACEHOLDER);
    return result;
  }

  text(text: string): string {
    let current = text;
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const next = withoutShapes(this.knownIn(current));
      if (next === current) return next;
      current = next;
    }
    // Text that never settles is not worth the risk of what is left in it.
    return PLACEHOLDER;
  }

  /** A JSON value, its keys included. `redact` may do more to a string than `text` does. */
  value(value: unknown, redact: (text: string) => string = (text) => this.text(text)): unknown {
    return this.#value(value, redact, 0);
  }

  #value(value: unknown, redact: (text: string) => string, depth: number): unknown {
    if (typeof value === "string") return redact(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth >= MAX_DEPTH) return `[nested deeper than ${MAX_DEPTH} levels]`;
    if (Array.isArray(value)) return value.map((item) => this.#value(item, redact, depth + 1));
    let renamed = 0;
    const entries = Object.entries(value).map(([key, item]) => {
      const name = this.knownIn(key) === key ? key : `***REDACTED_KEY_${(renamed += 1)}***`;
      const isSecret = typeof item === "string" && isSecretIn(value, key);
      return [name, isSecret ? PLACEHOLDER : this.#value(item, redact, depth + 1)] as const;
    });
    // fromEntries defines own properties, so that a key like `__proto__` stays a mere key.
    return Object.fromEntries(entries);
  }
}

function isSecretIn(fields: object, key: string): boolean {
  // A token of a log probability is a piece of the answer.
  return isSecretField(key) && !(key === "token" && "logprob" in fields);
}
