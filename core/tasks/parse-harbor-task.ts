import { TaskDocument } from "../model/task.ts";
import type { DefinitionResult } from "./parse-result.ts";
import { isRecord } from "./plain-data.ts";
import type { KeyPath, Problem } from "./problem.ts";
import { readTaskConfig } from "./read-task-config.ts";
import { readToml } from "./read-toml.ts";

export interface HarborFiles {
  readonly taskToml: string;
  /** instruction.md verbatim; null when the task has none. */
  readonly instruction: string | null;
}

const FILE = "task.toml";

/** Reads the Harbor layout: task.toml and instruction.md (spec 6.2). */
export function parseHarborTask({ taskToml, instruction }: HarborFiles): DefinitionResult {
  const toml = readToml(taskToml, FILE);
  if (toml.kind === "invalid") return { kind: "invalid", problems: [toml.problem] };
  const twice = doubledSpellings(toml.value).map((path): Problem => {
    const message = `${path.join(".")} stands beside the section it is another name of, keep one`;
    return { file: FILE, place: toml.locate(path), message };
  });
  if (twice.length > 0) return { kind: "invalid", problems: twice };
  const read = readTaskConfig({
    file: FILE,
    keys: nativeKeys(toml.value),
    locate: toml.locate,
    writtenAs: (path) => harborPath(path, toml.value),
  });
  if (read.config === null) return { kind: "invalid", problems: read.problems };
  const { config } = read;
  if (instruction === null && config.steps.length === 0) {
    const message = "not there, a task.toml needs one beside it";
    return { kind: "invalid", problems: [{ file: "instruction.md", place: null, message }] };
  }
  const document = TaskDocument.parse({});
  const warnings = [...read.warnings];
  const prompt = instruction ?? "";
  return { kind: "parsed", definition: { layout: "harbor", prompt, config, document, warnings } };
}

/** The names that task.toml has for sections and keys of the model. */
const RENAMED_ROOTS = {
  environment: "sandbox",
  solution: "oracle",
  version: "schema_version",
} as const;
const RENAMED_IN_VERIFIER = { environment: "sandbox", environment_mode: "sandbox_mode" } as const;

function nativeKeys(toml: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const keys = renameKeys(toml, RENAMED_ROOTS);
  if (isRecord(keys["verifier"]))
    keys["verifier"] = renameKeys(keys["verifier"], RENAMED_IN_VERIFIER);
  if (Array.isArray(keys["steps"])) {
    keys["steps"] = keys["steps"].map((step: unknown) => {
      if (!isRecord(step) || !isRecord(step["verifier"])) return step;
      return { ...step, verifier: renameKeys(step["verifier"], RENAMED_IN_VERIFIER) };
    });
  }
  if (isRecord(keys["oracle"])) keys["oracle"] = withInlineEnv(keys["oracle"]);
  return keys;
}

/** Where both names are given the newer one wins: only `version` beside `schema_version` gets here. */
function renameKeys(
  table: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(table)) {
    const name = Object.hasOwn(names, key) ? names[key] : undefined;
    if (name === undefined) kept[key] = value;
    else renamed[name] = value;
  }
  return { ...renamed, ...kept };
}

/** `[solution] TOKEN = "x"` is short for `[solution.env] TOKEN = "x"` (spec 6.4). */
export function withInlineEnv(oracle: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { env = {}, ...rest } = oracle;
  if (!isRecord(env)) return { ...oracle };
  const inline: Record<string, unknown> = {};
  const other: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(rest)) {
    const isVariable = /^[A-Z_][A-Z0-9_]*$/u.test(key) && typeof value === "string";
    (isVariable ? inline : other)[key] = value;
  }
  return { ...other, env: { ...inline, ...env } };
}

function doubledSpellings(toml: Readonly<Record<string, unknown>>): readonly KeyPath[] {
  const found: KeyPath[] = [];
  const both = (table: unknown, names: readonly [string, string], at: KeyPath) => {
    if (isRecord(table) && names.every((name) => table[name] !== undefined)) {
      found.push([...at, names[0]]);
    }
  };
  both(toml, ["environment", "sandbox"], []);
  both(toml, ["solution", "oracle"], []);
  both(toml["verifier"], ["environment", "sandbox"], ["verifier"]);
  both(toml["verifier"], ["environment_mode", "sandbox_mode"], ["verifier"]);
  return found;
}

const OLD_NAMES: Readonly<Record<string, string>> = {
  sandbox: "environment",
  sandbox_mode: "environment_mode",
  oracle: "solution",
  schema_version: "version",
};

/** The way the file writes a native path, so that messages and places fit it. */
function harborPath(path: KeyPath, toml: Readonly<Record<string, unknown>>): KeyPath {
  let table: unknown = toml;
  return path.map((part) => {
    const old = OLD_NAMES[part];
    const isOld = isRecord(table) && table[part] === undefined && old !== undefined;
    const written = isOld ? old : part;
    if (isRecord(table)) table = table[written];
    else if (Array.isArray(table) && typeof written === "number") table = table[written];
    return written;
  });
}
