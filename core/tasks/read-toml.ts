import { parse, TomlError } from "smol-toml";
import { messageOf } from "../errors.ts";
import { locateTomlKeys } from "./locate-toml-keys.ts";
import { toPlainData } from "./plain-data.ts";
import type { ReadDocument } from "./problem.ts";

const MAX_DEPTH = 64;

/** Reads TOML text into plain data. An error of the parser keeps its line and column. */
export function readToml(text: string, file: string): ReadDocument {
  try {
    const parsed: unknown = parse(text, { maxDepth: MAX_DEPTH, unsafeKeyBehaviour: "throw" });
    return { kind: "read", value: toPlainData(parsed), locate: locateTomlKeys(text) };
  } catch (error) {
    const place = error instanceof TomlError ? { line: error.line, column: error.column } : null;
    const [first = ""] = messageOf(error)
      .replace(/^Invalid TOML document: /u, "")
      .split("\n");
    const what = first.replace(/\.$/u, "");
    return { kind: "invalid", problem: { file, place, message: `${what}, not valid TOML` } };
  }
}
