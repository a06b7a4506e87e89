import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { basename, extname } from "node:path";
import * as z from "zod";
import { BenchError, messageOf } from "../core/errors.ts";
import { readYaml } from "../core/tasks/read-yaml.ts";
import { parseJson } from "../core/usage/json-view.ts";
import { codeOf } from "../host/error-code.ts";

/** Such files are written by hand. */
const MAX_BYTES = 1024 * 1024;

/** A file of the person's own beside the tasks. */
export interface OwnFile {
  readonly path: string;
  /** How it was asked for, without a folder, for example `--agent-file mine.yaml`. */
  readonly asked: string;
  /** What to do about a file that is not there, or wrong. */
  readonly next: string;
}

/** The next step for a file whose shape a page of docs/ tells. */
export function shapeIn(page: string): string {
  return `${page} has the shape of the file`;
}

/**
 * Reads a JSON file, or a YAML one by its name, in the shape of a schema. Throws `BenchError`
 * (`config`) with the first thing that is wrong and where it stands; no value of the file that might
 * be a secret is repeated beyond its key.
 */
export async function readOwnFile<T extends z.ZodType>(
  schema: T,
  { path, asked, next }: OwnFile,
): Promise<z.infer<T>> {
  const refuse = (why: string, cause?: unknown): BenchError =>
    new BenchError("config", `${asked}: ${why}`, { next, cause });
  let text: string;
  try {
    text = await readSmallFile(path);
  } catch (cause) {
    throw refuse(`it cannot be read (${codeOf(cause) || messageOf(cause)})`, cause);
  }
  const parsed = parseShape(schema, parseText(text, basename(path), refuse), refuse);
  if (parsed.success) return parsed.data;
  throw refuse(z.prettifyError(parsed.error).split("\n").join(" ").slice(0, 600));
}

/** Nested deeply enough, a value ends the schema's own recursion. */
function parseShape<T extends z.ZodType>(
  schema: T,
  value: unknown,
  refuse: (why: string) => BenchError,
): z.ZodSafeParseResult<z.infer<T>> {
  try {
    return schema.safeParse(value);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw refuse("it has too many levels of nesting");
    throw thrown;
  }
}

/**
 * The text of a person's file, a link to one included. A pipe would hold the run for ever, and a device
 * has no end: both are told, as is a file that is too large. Throws what says why.
 */
export async function readSmallFile(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await handle.stat();
    if (found.isDirectory()) throw new Error("it is a folder");
    if (!found.isFile()) throw new Error("it is no plain file");
    if (found.size > MAX_BYTES) throw new Error(`it is larger than ${String(MAX_BYTES)} bytes`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

function parseText(text: string, name: string, refuse: (why: string) => BenchError): unknown {
  if (/^\.ya?ml$/iu.test(extname(name))) {
    const read = readYaml(text, { file: name, linesBefore: 0 });
    if (read.kind === "read") return read.value;
    const { place, message } = read.problem;
    throw refuse(`line ${String(place?.line ?? 1)}: ${message}`);
  }
  const value = parseJson(text);
  if (value === undefined) throw refuse("it is not JSON");
  return value;
}
