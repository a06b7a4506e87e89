import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument, visit } from "yaml";
import type { Document } from "yaml";
import { messageOf } from "../errors.ts";
import { isRecord, toPlainData } from "./plain-data.ts";
import type { KeyPath, Place, ReadDocument } from "./problem.ts";

/** Where the YAML stands in its file. */
export interface YamlSource {
  readonly file: string;
  /** Lines of the file before the first line of the text. */
  readonly linesBefore: number;
}

/**
 * Reads YAML text into plain data, with the scalars of YAML 1.1 (`no` is false), because that is
 * what the tasks of this format were written for. A doubled key is an error here.
 */
export function readYaml(text: string, source: YamlSource): ReadDocument {
  try {
    return readYamlText(text, source);
  } catch (error) {
    const place = { line: source.linesBefore + 1, column: 1 };
    const message = `${messageOf(error)}, not usable YAML`;
    return { kind: "invalid", problem: { file: source.file, place, message } };
  }
}

/** Real frontmatter has a few kB. */
const MAX_CHARACTERS = 256 * 1024;

function readYamlText(text: string, { file, linesBefore }: YamlSource): ReadDocument {
  if (text.length > MAX_CHARACTERS) {
    throw new Error(`${text.length} characters, at most ${MAX_CHARACTERS} are read`);
  }
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    version: "1.1",
    lineCounter,
    prettyErrors: false,
    stringKeys: true,
    // The parser's own check compares each key with each other one.
    uniqueKeys: false,
    logLevel: "error",
  });
  const placeAt = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: line + linesBefore, column: col };
  };
  const [error] = document.errors;
  if (error !== undefined) {
    const [message = ""] = error.message.split("\n");
    const first = message.startsWith("Maximum call stack") ? "too many levels of nesting" : message;
    const place = placeAt(error.pos[0]);
    return { kind: "invalid", problem: { file, place, message: `${first}, not valid YAML` } };
  }
  const doubled = doubledKeyOffset(document);
  if (doubled !== null) {
    const message = "the key stands there twice, not valid YAML";
    return { kind: "invalid", problem: { file, place: placeAt(doubled), message } };
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  if (!isRecord(value)) throw new Error("the text is not a mapping of keys to values");
  const locate = (path: KeyPath): Place | null => {
    const offset = offsetOf(document, path);
    return offset === null ? null : placeAt(offset);
  };
  return { kind: "read", value: toPlainData(value), locate };
}

/** Where a mapping repeats a key; the merge key `<<` may stand there several times. */
function doubledKeyOffset(document: Document): number | null {
  let offset: number | null = null;
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key) || key.value === "<<") continue;
        if (seen.has(key.value)) {
          offset = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return offset;
}

/** Offset of the deepest key on the path that stands in the text. */
function offsetOf(document: Document, path: KeyPath): number | null {
  let offset: number | null = null;
  for (let length = 1; length <= path.length; length++) {
    const parent: unknown = document.getIn(path.slice(0, length - 1), true) ?? document.contents;
    const own = keyOffset(parent, path[length - 1]) ?? itemOffset(document, path.slice(0, length));
    if (own === null) return offset;
    offset = own;
  }
  return offset;
}

function keyOffset(parent: unknown, key: string | number | undefined): number | null {
  if (!isMap(parent)) return null;
  const pair = parent.items.find((item) => {
    return isPair(item) && isScalar(item.key) && String(item.key.value) === String(key);
  });
  return pair !== undefined && isScalar(pair.key) ? (pair.key.range?.[0] ?? null) : null;
}

function itemOffset(document: Document, path: KeyPath): number | null {
  const node: unknown = document.getIn(path, true);
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}
