import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../core/errors.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { findFetch } from "../../core/tasks/dockerfile/find-fetch.ts";
import type { Instruction } from "../../core/tasks/dockerfile/instruction.ts";
import { leaveOut, leftOutSources } from "../../core/tasks/dockerfile/leave-out.ts";
import { parseDockerfile, type Stage } from "../../core/tasks/dockerfile/parse-dockerfile.ts";
import {
  planStages,
  type PlannedStage,
  resolveFrom,
} from "../../core/tasks/dockerfile/plan-stages.ts";

/** What a build of a task's Dockerfile takes. */
export interface BuildRecipe {
  /** The Dockerfile to build from: FROM lines mapped, heredocs in a form that every builder reads. */
  readonly text: string;
  /** Whether `text` is the file of the context, byte for byte. */
  readonly isUnchanged: boolean;
  /** Images that must be there first, after mapping. */
  readonly bases: readonly string[];
  /** Whether steps run commands, which then need a network of their own. */
  readonly runsCommands: boolean;
  /** What ADD fetches: by the daemon itself, from the daemon's own network. */
  readonly remoteSources: readonly string[];
  /** What a step fetches by, whose failure may be the network's; null when none fetches. */
  readonly fetcher: string | null;
  /** What only BuildKit can build, `line N: what`; null when the daemon's own builder can. */
  readonly buildKitOnly: string | null;
}

export interface RecipeOptions {
  readonly contextDir: string;
  readonly leaveOut?: readonly string[];
  readonly baseImageMap: Readonly<Record<string, string>>;
  readonly platform: string;
}

/** Reads a build context's Dockerfile. Throws `build-failed` for one that Docker would refuse. */
export async function readRecipe(options: RecipeOptions): Promise<BuildRecipe> {
  try {
    const text = await readFile(join(options.contextDir, "Dockerfile"), "utf8");
    return makeRecipe(text, options);
  } catch (error) {
    throw new SandboxError("build-failed", messageOf(error), { cause: error });
  }
}

/** Pure part of `readRecipe`. */
export function makeRecipe(
  text: string,
  { baseImageMap, platform, leaveOut: names = [] }: Omit<RecipeOptions, "contextDir">,
): BuildRecipe {
  const dockerfile = parseDockerfile(text);
  const { stages } = planStages(dockerfile, { platform });
  const mapped = (reference: string): string => baseImageMap[reference] ?? reference;
  const buildKitOnly = findBuildKitOnly(dockerfile.instructions);
  const edits = stages.flatMap((stage) => mapBases(stage, stages, mapped));
  if (buildKitOnly === null) edits.push(...dockerfile.stages.flatMap(plainHeredocs));
  edits.push(...dockerfile.instructions.flatMap((each) => dropSources(each, names)));
  const fromStages = dockerfile.stages.flatMap((stage) => {
    const planned = stages.find((each) => each.index === stage.index);
    return planned === undefined ? [] : mapFrom(stage, planned, mapped);
  });
  const edited = applyEdits(text, [...edits, ...fromStages]);
  const bases = stages.flatMap((stage) => baseReferences(stage, stages)).map(mapped);
  return {
    text: edited,
    isUnchanged: edited === text,
    bases: [...new Set(bases)],
    runsCommands: dockerfile.instructions.some(runsCommand),
    remoteSources: dockerfile.instructions.flatMap(remoteSourcesOf),
    fetcher: dockerfile.instructions.map(findFetch).find((each) => each !== null) ?? null,
    buildKitOnly,
  };
}

/** What instructions on their own, such as a base image's triggers, would have ADD fetch. */
export function remoteSourcesIn(instructions: readonly string[]): readonly string[] {
  const text = ["FROM scratch", ...instructions].join("\n");
  return parseDockerfile(text).instructions.flatMap(remoteSourcesOf);
}

interface Edit {
  readonly line: number;
  readonly endLine: number;
  readonly replace: (lines: string) => string;
}

/** A source left out goes from its line, and with the last one the whole instruction. */
function dropSources(each: Instruction, names: readonly string[]): Edit[] {
  const dropped = leftOutSources(each, names);
  if (dropped.length === 0) return [];
  const { line, endLine } = each;
  if (leaveOut(each, names) === null) return [{ line, endLine, replace: () => "" }];
  const replace = (lines: string): string =>
    dropped.reduce((text, source) => withoutWord(text, source), lines);
  return [{ line, endLine, replace }];
}

/** Without the first such word, in the list form or in the form of blanks between. */
function withoutWord(text: string, word: string): string {
  const listed = `${JSON.stringify(word)},`;
  if (text.includes(listed)) return text.replace(listed, () => "");
  const words = text.split(/(?<=\s)(?=\S)/u);
  const at = words.findIndex((each) => each.trimEnd() === word);
  return words.toSpliced(at, at < 0 ? 0 : 1).join("");
}

function mapFrom(
  { from }: Stage,
  { base, platform, name }: PlannedStage,
  mapped: (reference: string) => string,
): Edit[] {
  if (base.kind !== "image" || mapped(base.reference) === base.reference) return [];
  const words = ["FROM", platform === null ? "" : `--platform=${platform}`, mapped(base.reference)];
  if (name !== null) words.push("AS", name);
  const text = words.filter((word) => word !== "").join(" ");
  return [{ line: from.line, endLine: from.endLine, replace: () => text }];
}

/** `COPY --from=IMAGE`, where the image is a mapped one. */
function mapBases(
  stage: PlannedStage,
  stages: readonly PlannedStage[],
  mapped: (reference: string) => string,
): Edit[] {
  return stage.instructions.flatMap((each) => {
    if (each.kind !== "COPY" || each.from === null) return [];
    const { from, line, endLine } = each;
    const isImage = resolveFrom(stages, stage.index, from).kind === "image";
    if (!isImage || mapped(from) === from) return [];
    const replace = (lines: string): string =>
      lines.replace(`--from=${from}`, () => `--from=${mapped(from)}`);
    return [{ line, endLine, replace }];
  });
}

/** A heredoc is only another way to write a script: in JSON form, builders before BuildKit read it too. */
function plainHeredocs({ instructions }: Stage): Edit[] {
  let shell: readonly string[] = ["/bin/sh", "-c"];
  return instructions.flatMap((each) => {
    if (each.kind === "SHELL") shell = each.values;
    if (each.kind !== "RUN" || each.command.form !== "shell") return [];
    if (!each.command.script.includes("\n")) return [];
    const argv = [...shell, each.command.script];
    const text = `RUN ${JSON.stringify(argv)}`;
    return [{ line: each.line, endLine: each.endLine, replace: () => text }];
  });
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  const lines = text.split("\n");
  for (const { line, endLine, replace } of edits.toSorted((a, b) => b.line - a.line)) {
    const old = lines.slice(line - 1, endLine).join("\n");
    lines.splice(line - 1, endLine - line + 1, replace(old));
  }
  return lines.join("\n");
}

function baseReferences(stage: PlannedStage, stages: readonly PlannedStage[]): string[] {
  const others = stage.instructions.flatMap((each) => {
    if (each.kind !== "COPY" || each.from === null) return [];
    const source = resolveFrom(stages, stage.index, each.from);
    return source.kind === "image" ? [source.reference] : [];
  });
  return stage.base.kind === "image" ? [stage.base.reference, ...others] : others;
}

function runsCommand(each: Instruction): boolean {
  return each.kind === "RUN" || each.kind === "ONBUILD";
}

/** Sources that are, or may become by a variable, an address. */
function remoteSourcesOf(each: Instruction): string[] {
  const added = each.kind === "ONBUILD" ? each.trigger : each;
  if (added.kind !== "ADD") return [];
  return added.sources.filter((source) => /^["']?(\$|[a-z]+:\/\/|git@)/iu.test(source));
}

/** The first thing that Docker's own builder, without BuildKit, does not know. */
function findBuildKitOnly(instructions: readonly Instruction[]): string | null {
  for (const each of instructions) {
    const what = buildKitFeature(each);
    if (what !== null) return `line ${String(each.line)}: ${each.kind} ${what}`;
  }
  return null;
}

function buildKitFeature(each: Instruction): string | null {
  if (each.kind === "RUN") {
    if (each.mounts.length > 0) return "--mount";
    if (each.network !== null) return "--network";
    if (each.security !== null) return "--security";
    return each.command.form === "file" ? "with a script of its own interpreter" : null;
  }
  if (each.kind !== "COPY" && each.kind !== "ADD") return null;
  if (each.files.length > 0) return "with a file in the Dockerfile";
  if (each.chmod !== null) return "--chmod";
  if (each.link) return "--link";
  if (each.exclude.length > 0) return "--exclude";
  if (each.kind === "COPY") return each.parents ? "--parents" : null;
  if (each.checksum !== null) return "--checksum";
  return each.keepGitDir || each.unpack !== null ? "with options" : null;
}
