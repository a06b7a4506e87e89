/** Variables in sight; a name that is missing is unset, which is not the same as empty. */
export type Variables = Readonly<Record<string, string>>;

export interface ExpandRules {
  /** The Dockerfile's escape character. */
  readonly escape: string;
  /** `literal`: quotes are ordinary characters, as in a heredoc that COPY writes. */
  readonly quotes: "remove" | "literal";
}

/**
 * Expands `$X`, `${X}`, `${X:-d}`, `${X-d}`, `${X:+d}`, `${X+d}`, `${X:?m}` and `${X?m}` in a
 * Dockerfile word and removes its quotes and escapes. Nothing is expanded in single quotes. The
 * pattern forms (`${X#p}`, `${X%p}`, `${X/p/r}`) of newer Docker versions are refused. Throws a plain
 * `Error` that says what is malformed; `applyInstruction` adds the place.
 */
export function expandWord(word: string, variables: Variables, rules: ExpandRules): string {
  return new WordReader(word, variables, rules).readAll();
}

/** One pass over one word. A class, because every rule moves the same reading position. */
class WordReader {
  readonly #text: string;
  readonly #variables: Variables;
  readonly #rules: ExpandRules;
  #at = 0;

  constructor(text: string, variables: Variables, rules: ExpandRules) {
    this.#text = text;
    this.#variables = variables;
    this.#rules = rules;
  }

  readAll(): string {
    return this.#readUntil(null);
  }

  /** Reads to `stop`, which is consumed, or to the end when there is none. */
  #readUntil(stop: string | null): string {
    let out = "";
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at);
      if (char === stop) {
        this.#at++;
        return out;
      }
      if (char === "$") out += this.#readDollar();
      else if (this.#rules.quotes === "remove" && char === "'") out += this.#readSingleQuoted();
      else if (this.#rules.quotes === "remove" && char === '"') out += this.#readDoubleQuoted();
      else if (char === this.#rules.escape) out += this.#readEscaped();
      else out += this.#next();
    }
    if (stop !== null) throw new Error(`missing '${stop}' in ${this.#text}`);
    return out;
  }

  #next(): string {
    const char = this.#text.charAt(this.#at);
    this.#at++;
    return char;
  }

  /** The escape character goes, what follows it stays; at the very end it goes alone. */
  #readEscaped(): string {
    this.#at++;
    return this.#next();
  }

  #readSingleQuoted(): string {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end === -1) throw new Error(`missing closing ' in ${this.#text}`);
    const inside = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return inside;
  }

  /** In double quotes an escape counts before `"`, `$` and itself; elsewhere it is a character. */
  #readDoubleQuoted(): string {
    const { escape } = this.#rules;
    let out = "";
    this.#at++;
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at);
      if (char === "$") {
        out += this.#readDollar();
        continue;
      }
      this.#at++;
      if (char === '"') return out;
      const following = this.#text.charAt(this.#at);
      if (char === escape && following !== "" && ['"', "$", escape].includes(following)) {
        out += this.#next();
      } else out += char;
    }
    throw new Error(`missing closing " in ${this.#text}`);
  }

  #readDollar(): string {
    this.#at++;
    if (this.#text.charAt(this.#at) !== "{") {
      const name = this.#readName();
      return name === "" ? "$" : (this.#lookUp(name) ?? "");
    }
    this.#at++;
    const name = this.#readName();
    if (name === "") throw new Error(`bad substitution in ${this.#text}`);
    const operator = this.#next();
    if (operator === "}") return this.#lookUp(name) ?? "";
    if (operator === ":") return this.#choose(name, this.#next(), true);
    return this.#choose(name, operator, false);
  }

  #choose(name: string, operator: string, emptyIsUnset: boolean): string {
    if (operator === "") throw new Error(`missing '}' in ${this.#text}`);
    if (!["-", "+", "?"].includes(operator)) {
      const shown = (emptyIsUnset ? ":" : "") + operator;
      throw new Error(`modifier ${shown} is not supported in ${this.#text}`);
    }
    const word = this.#readUntil("}");
    const value = this.#lookUp(name);
    const missing = value === undefined || (emptyIsUnset && value === "");
    switch (operator) {
      case "-":
        return missing ? word : value;
      case "+":
        return missing ? "" : word;
      default: {
        const state = value === undefined ? "unset" : "empty";
        if (missing) throw new Error(`${name}: ${word || `is not allowed to be ${state}`}`);
        return value;
      }
    }
  }

  /** A name, a run of digits, or one of the shell's special parameters, which are never set here. */
  #readName(): string {
    const rest = this.#text.slice(this.#at);
    const match = /^(?:\d+|[@*#?\-$!]|[\p{L}_][\p{L}\p{Nd}_]*)/u.exec(rest);
    const name = match?.[0] ?? "";
    this.#at += name.length;
    return name;
  }

  #lookUp(name: string): string | undefined {
    return Object.hasOwn(this.#variables, name) ? this.#variables[name] : undefined;
  }
}
