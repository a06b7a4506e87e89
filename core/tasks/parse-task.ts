import type { Refusal, TaskConfig } from "../model/task.ts";
import { findComposeFile, findFolders, missingFile } from "./find-folders.ts";
import { parseHarborTask } from "./parse-harbor-task.ts";
import { parseNativeTask } from "./parse-native-task.ts";
import type {
  Definition,
  DefinitionResult,
  ParsedTask,
  TaskFolders,
  TaskResult,
} from "./parse-result.ts";
import type { Problem } from "./problem.ts";
import type { TaskFiles } from "./task-files.ts";
import { entriesBelow, textsIn } from "./task-files.ts";
import { readSimulatedUser } from "./simulated-user.ts";
import { unsupportedFeatures } from "./unsupported-features.ts";

/**
 * Reads one task from the files of its folder, in whichever layout it has (spec 6.1 to 6.5). Pure.
 * What cannot be read is `invalid`, with places; what can be read but not run is a refusal of the task.
 */
export function parseTask(files: TaskFiles): TaskResult {
  const defined = readDefinition(files);
  if (defined.kind === "invalid") return defined;
  const found = findFolders(files, defined.definition.config);
  if (found.kind === "invalid") return found;
  return { kind: "parsed", task: assemble(files, defined.definition, found.folders) };
}

function readDefinition(files: TaskFiles): DefinitionResult {
  const taskMd = files.texts.get("task.md");
  const taskToml = files.texts.get("task.toml");
  const instruction = files.texts.get("instruction.md") ?? null;
  if (taskMd === undefined) {
    if (taskToml !== undefined) return parseHarborTask({ taskToml, instruction });
    const missing = missingFile(files, "task.md", "and there is no task.toml either");
    return { kind: "invalid", problems: missing === null ? [] : [missing] };
  }
  const native = parseNativeTask({ taskMd, sidecars: textsIn(files, "prompts") });
  if (native.kind === "invalid" || taskToml === undefined) return native;
  const harbor = parseHarborTask({ taskToml, instruction });
  if (harbor.kind === "invalid") return harbor;
  const spoken = withNetworkOf(harbor.definition, native.definition);
  const problems = differences(spoken, withNetworkOf(native.definition, harbor.definition));
  return problems.length > 0
    ? { kind: "invalid", problems }
    : { kind: "parsed", definition: spoken };
}

/**
 * A layout that says nothing about the network says the same as one that asks for the open one,
 * which is the default; together they do ask for it.
 */
function withNetworkOf(other: Definition, definition: Definition): Definition {
  const { sandbox } = definition.config;
  if (sandbox.networkMode !== null || other.config.sandbox.networkMode !== "public") {
    return definition;
  }
  const config = { ...definition.config, sandbox: { ...sandbox, networkMode: "public" as const } };
  return { ...definition, config };
}

/** Both layouts in one folder must say the same (spec-0.7.12 section 8). */
function differences(native: Definition, harbor: Definition): Problem[] {
  const parts: string[] = [];
  if (native.prompt.trim() !== harbor.prompt.trim()) parts.push("the prompt");
  // Which schema a file was written for says nothing about the task.
  const { schemaVersion: _native, ...ofNative } = native.config;
  const { schemaVersion: _harbor, ...ofHarbor } = harbor.config;
  const harborParts = new Map(Object.entries(ofHarbor));
  for (const [name, value] of Object.entries(ofNative)) {
    if (canonical(value) !== canonical(harborParts.get(name))) parts.push(name);
  }
  return parts.map((part) => {
    const message = `${part} differs from task.md, both layouts must say the same`;
    return { file: "task.toml", place: null, message };
  });
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== "object" || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function assemble(files: TaskFiles, definition: Definition, folders: TaskFolders): ParsedTask {
  const { layout, prompt, document, warnings } = definition;
  const { verifierDir, oracleDir, verifierCommand, aggregatePolicy } = folders;
  const config: TaskConfig = {
    ...definition.config,
    verifier: { ...definition.config.verifier, aggregatePolicy },
  };
  const skills = bundledSkills(files);
  const refusals: Refusal[] = [
    ...unsupportedFeatures(config, document, prompt),
    ...folders.refusals,
  ];
  return {
    name: files.name,
    layout,
    prompt,
    config,
    environmentDir: "environment",
    verifierDir,
    oracleDir,
    verifierCommand,
    compose: findComposeFile(files) !== null,
    simulatedUser: readSimulatedUser(document).kind !== "none",
    ...(skills.length === 0 ? {} : { skills }),
    refusals,
    warnings: [...warnings],
    document,
  };
}

/** Folders of `environment/skills` that say what they teach, by name. */
function bundledSkills(files: TaskFiles): string[] {
  const names = entriesBelow(files, "environment/skills").flatMap(([path, { kind }]) => {
    const found = /^([^/]+)\/SKILL\.md$/u.exec(path);
    return kind === "file" && found !== null ? [found[1] ?? ""] : [];
  });
  return names.toSorted();
}
