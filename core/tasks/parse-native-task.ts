import { TaskDocument } from "../model/task.ts";
import { expandShorthands } from "./expand-shorthands.ts";
import { withInlineEnv } from "./parse-harbor-task.ts";
import type { DefinitionResult } from "./parse-result.ts";
import { isRecord } from "./plain-data.ts";
import type { KeyPath, LocateKey, Problem } from "./problem.ts";
import { formatPath, showValue } from "./problem.ts";
import type { PromptSections } from "./prompt-sections.ts";
import { readPromptSections, withSidecars } from "./prompt-sections.ts";
import { readTaskConfig } from "./read-task-config.ts";
import { readYaml } from "./read-yaml.ts";
import { splitFrontmatter } from "./split-frontmatter.ts";

export interface NativeFiles {
  readonly taskMd: string;
  /** The files of `prompts/`, by file name. */
  readonly sidecars: Readonly<Record<string, string>>;
}

const FILE = "task.md";

/** Reads the native layout: task.md with its frontmatter, and the files of prompts/ (spec 6.3). */
export function parseNativeTask({ taskMd, sidecars }: NativeFiles): DefinitionResult {
  const split = splitFrontmatter(taskMd);
  if (split.kind === "invalid") return invalid({ line: split.line, column: 1 }, split.message);
  const yaml = readYaml(split.yaml, { file: FILE, linesBefore: 1 });
  if (yaml.kind === "invalid") return { kind: "invalid", problems: [yaml.problem] };
  const misnamed = refuseHarborNames(yaml.value, yaml.locate);
  if (misnamed.length > 0) return { kind: "invalid", problems: misnamed };

  const expanded = expandShorthands(yaml.value);
  if (expanded.kind === "invalid") {
    const value = showValue(yaml.value[expanded.path[0] ?? ""]);
    const message = `${formatPath(expanded.path)} is ${value}, ${expanded.message}`;
    return invalid(yaml.locate(expanded.path), message);
  }
  const { keys, ...beside } = expanded.frontmatter;
  const read = readTaskConfig({
    file: FILE,
    keys: nativeKeys(keys),
    locate: yaml.locate,
    writtenAs: (path) => path,
  });
  if (read.config === null) return { kind: "invalid", problems: read.problems };

  let sections: PromptSections;
  try {
    sections = withSidecars(readPromptSections(split.body), sidecars);
  } catch (error) {
    return invalid(null, error instanceof Error ? error.message : String(error));
  }
  const { prompt, ...prompts } = sections;
  const document = TaskDocument.safeParse({ ...beside, ...prompts });
  if (!document.success) {
    const problems = document.error.issues.slice(0, 20).map((issue): Problem => {
      const path = issue.path.map(String);
      const message = `${formatPath(path)} has a wrong type, it must be as in the task.md format`;
      return { file: FILE, place: yaml.locate(path), message };
    });
    return { kind: "invalid", problems };
  }
  const { config, warnings } = read;
  return {
    kind: "parsed",
    definition: { layout: "native", prompt, config, document: document.data, warnings },
  };
}

/** task.md has new names for what task.toml calls `environment`; the old ones are an error there. */
const HARBOR_NAMES: readonly (readonly [KeyPath, string])[] = [
  [["environment"], "sandbox"],
  [["verifier", "environment"], "verifier.sandbox"],
  [["verifier", "environment_mode"], "verifier.sandbox_mode"],
];

function refuseHarborNames(
  frontmatter: Readonly<Record<string, unknown>>,
  locate: LocateKey,
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const [path, name] of HARBOR_NAMES) {
    const [root = "", key] = path;
    const table = key === undefined ? frontmatter : frontmatter[root];
    if (!isRecord(table) || table[key ?? root] === undefined) continue;
    const message = `${formatPath(path)} is the name in task.toml, in task.md it is ${name}`;
    problems.push({ file: FILE, place: locate(path), message });
  }
  if (frontmatter["oracle"] !== undefined && frontmatter["solution"] !== undefined) {
    const message = "solution is another name of oracle, keep one";
    problems.push({ file: FILE, place: locate(["solution"]), message });
  }
  return problems;
}

function nativeKeys(keys: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { version, solution, ...rest } = keys;
  const named: Record<string, unknown> = { ...rest };
  if (version !== undefined) named["schema_version"] ??= version;
  if (solution !== undefined) named["oracle"] = solution;
  if (isRecord(named["oracle"])) named["oracle"] = withInlineEnv(named["oracle"]);
  return named;
}

function invalid(place: Problem["place"], message: string): DefinitionResult {
  return { kind: "invalid", problems: [{ file: FILE, place, message }] };
}
