import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument } from "yaml";
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

function readYamlText(text: string, { file, linesBefore }: YamlSource): ReadDocument {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    version: "1.1",
    lineCounter,
    prettyErrors: false,
    stringKeys: true,
    logLevel: "error",
  });
  const placeAt = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: line + linesBefore, column: col };
  };
  const [error] = document.errors;
  if (error !== undefined) {
    const [first = ""] = error.message.split("\n");
    const place = placeAt(error.pos[0]);
    return { kind: "invalid", problem: { file, place, message: `${first}, not valid YAML` } };
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  if (!isRecord(value)) throw new Error("the text is not a mapping of keys to values");
  const locate = (path: KeyPath): Place | null => {
    const offset = offsetOf(document, path);
    return offset === null ? null : placeAt(offset);
  };
  return { kind: "read", value: toPlainData(value), locate };
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
