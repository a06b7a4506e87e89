import { DockerfileProblem } from "./instruction.ts";
import type { RawInstruction } from "./split-instructions.ts";
import { splitFlags } from "./split-words.ts";

export interface ReadFlags {
  /** Flags that may be given once. */
  readonly flags: ReadonlyMap<string, string>;
  /** Values of the flags that may be given several times, by name. */
  readonly repeated: ReadonlyMap<string, readonly string[]>;
  readonly rest: string;
}

const BOOLEAN_FLAGS = new Set(["link", "parents", "keep-git-dir", "unpack"]);
const REPEATED_FLAGS = new Set(["mount", "exclude"]);

/** Checks an instruction's flags against the names it knows; an unknown or doubled one is an error. */
export function readFlags(raw: RawInstruction, known: readonly string[]): ReadFlags {
  const { flags: found, rest } = splitFlags(raw.args);
  const flags = new Map<string, string>();
  const repeated = new Map<string, string[]>();
  for (const { name, value } of found) {
    const shown = `${raw.keyword} --${name}`;
    if (!known.includes(name)) throw new DockerfileProblem(raw.line, `unknown flag: ${shown}`);
    const text = value ?? (BOOLEAN_FLAGS.has(name) ? "true" : null);
    if (text === null) throw new DockerfileProblem(raw.line, `${shown} needs a value`);
    if (BOOLEAN_FLAGS.has(name) && text !== "true" && text !== "false") {
      throw new DockerfileProblem(raw.line, `${shown} is ${text}, it can be true or false`);
    }
    if (REPEATED_FLAGS.has(name)) {
      repeated.set(name, [...(repeated.get(name) ?? []), text]);
    } else if (flags.has(name)) {
      throw new DockerfileProblem(raw.line, `${shown} is given twice`);
    } else flags.set(name, text);
  }
  return { flags, repeated, rest };
}
