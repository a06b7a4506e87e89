import type * as z from "zod";
import type { TaskConfig } from "../model/task.ts";
import { buildConfig, sizeMb } from "./build-config.ts";
import { isRecord } from "./plain-data.ts";
import type { KeyPath, LocateKey, Problem } from "./problem.ts";
import { comparePlaces, formatPath, formatProblem, showValue } from "./problem.ts";
import { RawConfig } from "./raw-config.ts";

/** Keys under their native names, and how to speak of them in the words of their file. */
export interface ConfigSource {
  readonly file: string;
  readonly keys: Readonly<Record<string, unknown>>;
  readonly locate: LocateKey;
  /** Native path to the path that the file uses, for sections that were renamed on reading. */
  readonly writtenAs: (path: KeyPath) => KeyPath;
}

export interface ReadConfig {
  readonly config: TaskConfig | null;
  /** Why there is no config; empty when there is one. */
  readonly problems: readonly Problem[];
  /** Unknown keys that cannot change what runs, as `file:line:column: …`. */
  readonly warnings: readonly string[];
}

/** An unknown key here may be a typo that silently changes a score, so it is an error (design 12). */
const STRICT_SECTIONS = new Set(["sandbox", "agent", "verifier"]);

/** A file may have a hundred thousand wrong keys; nobody reads more than the first. */
const MAX_TOLD = 20;

/** Checks the keys of a task and builds its configuration. */
export function readTaskConfig(source: ConfigSource): ReadConfig {
  const wrong: Complaint[] = [];
  const harmless: Complaint[] = [];
  const raw = parseKeys(withoutNulls(source.keys), wrong, harmless);
  if (raw !== null) wrong.push(...contradictions(raw));
  const warnings = describeAll(source, harmless).map(formatProblem);
  if (raw !== null && wrong.length === 0)
    return { config: buildConfig(raw), problems: [], warnings };
  return { config: null, problems: describeAll(source, wrong), warnings };
}

/** A key and the rule that it breaks. */
type Complaint = readonly [path: KeyPath, rule: string];

function parseKeys(keys: unknown, wrong: Complaint[], harmless: Complaint[]): RawConfig | null {
  const result = RawConfig.safeParse(keys);
  if (result.success) return result.data;
  const unknown: KeyPath[] = [];
  for (const issue of result.error.issues) {
    const path = keyPath(issue.path);
    if (issue.code !== "unrecognized_keys") wrong.push([path, ruleOf(issue)]);
    else for (const key of issue.keys) unknown.push([...path, key]);
  }
  for (const path of unknown) {
    const isStrict = STRICT_SECTIONS.has(String(path[0]));
    (isStrict ? wrong : harmless).push([path, unknownWords(path)]);
  }
  // Only unknown keys of no effect: read again without them.
  return wrong.length > 0 ? null : parseKeys(withoutPaths(keys, unknown), wrong, harmless);
}

function describeAll(source: ConfigSource, complaints: readonly Complaint[]): readonly Problem[] {
  const told = complaints.slice(0, MAX_TOLD).map(([path, rule]): Problem => {
    const written = source.writtenAs(path);
    const value = valueAt(source.keys, path);
    const state = value === undefined ? "missing" : showValue(value);
    const message = `${formatPath(written) || "the file"} is ${state}, ${rule}`;
    return { file: source.file, place: source.locate(written), message };
  });
  const untold = complaints.length - told.length;
  const rest = { file: source.file, place: null, message: `${untold} more of the kind` };
  return untold > 0 ? [...told.toSorted(comparePlaces), rest] : told.toSorted(comparePlaces);
}

function unknownWords(path: KeyPath): string {
  return STRICT_SECTIONS.has(String(path[0]))
    ? "there is no such key, and one in this section could change what runs"
    : "there is no such key, so it has no effect";
}

/** Two spellings of one setting that say different things. */
function* contradictions({ sandbox = {} }: RawConfig): Generator<Complaint> {
  const sizes = [
    ["memory", sandbox.memory, sandbox.memory_mb],
    ["storage", sandbox.storage, sandbox.storage_mb],
  ] as const;
  for (const [key, size, megabytes] of sizes) {
    if (size === undefined) continue;
    if (sizeMb(size) < 1) yield [["sandbox", key], "it must be at least 1M"];
    if (megabytes !== undefined && sizeMb(size) !== megabytes) {
      yield [["sandbox", key], `it contradicts ${key}_mb = ${megabytes}`];
    }
  }
  const { image, docker_image: dockerImage } = sandbox;
  if (image !== undefined && dockerImage !== undefined && image !== dockerImage) {
    yield [["sandbox", "image"], `it contradicts docker_image = ${showValue(dockerImage)}`];
  }
}

/** The rule that a value breaks, as the end of a sentence. */
function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `it must be ${expectedWords(issue.expected)}`;
    case "too_small":
      return tooSmallWords(issue);
    case "too_big":
      return `it must be ${issue.inclusive === true ? "at most" : "less than"} ${issue.maximum}`;
    case "invalid_value":
      return `it can be ${issue.values.map((value) => showValue(value)).join(" or ")}`;
    case "invalid_union":
      return issue.message === "Invalid input" ? "it has a wrong type" : `it ${issue.message}`;
    case "invalid_format":
    case "custom":
    case "invalid_key":
    case "invalid_element":
    case "not_multiple_of":
    case "unrecognized_keys":
      return /^(?:must|may)/u.test(issue.message) ? `it ${issue.message}` : issue.message;
  }
}

function expectedWords(expected: string): string {
  const words: Record<string, string> = {
    string: "a text in quotes",
    number: "a number",
    int: "a whole number",
    boolean: "true or false",
    array: "a list",
    object: "a table of keys",
    record: "a table of keys",
    tuple: "a list of two numbers",
  };
  return words[expected] ?? expected;
}

function tooSmallWords({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string {
  if (origin === "string" || origin === "array") {
    return minimum === 1 ? "it must not be empty" : `it must have at least ${minimum} parts`;
  }
  return `it must be ${inclusive === true ? "at least" : "more than"} ${minimum}`;
}

function keyPath(path: readonly PropertyKey[]): KeyPath {
  return path.map((part) => (typeof part === "number" ? part : String(part)));
}

function valueAt(root: unknown, path: KeyPath): unknown {
  let value: unknown = root;
  for (const part of path) {
    if (Array.isArray(value) && typeof part === "number") value = value[part];
    else if (isRecord(value)) value = value[part];
    else return undefined;
  }
  return value;
}

/** A key with nothing behind it (`timeout_sec:` in YAML) counts as absent. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutNulls(each));
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNulls(each)]));
}

function withoutPaths(value: unknown, paths: readonly KeyPath[]): unknown {
  const copy = structuredClone(value);
  for (const path of paths) {
    const parent = valueAt(copy, path.slice(0, -1));
    const key = path.at(-1);
    if (isRecord(parent) && typeof key === "string") delete parent[key];
  }
  return copy;
}
