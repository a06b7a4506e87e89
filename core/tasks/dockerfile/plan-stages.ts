import type { Dockerfile, Stage } from "./parse-dockerfile.ts";
import { explainProblem } from "./parse-dockerfile.ts";
import type { Variables } from "./expand-word.ts";
import { expandWord } from "./expand-word.ts";
import type { Instruction } from "./instruction.ts";
import { DockerfileProblem } from "./instruction.ts";
import type { ImageConfig, StageScope } from "./stage-scope.ts";

/** Where a stage, or a `COPY --from`, takes its files. */
export type StageBase =
  | { readonly kind: "scratch" }
  | { readonly kind: "stage"; readonly index: number }
  | { readonly kind: "image"; readonly reference: string };

export interface PlannedStage {
  readonly index: number;
  readonly name: string | null;
  readonly line: number;
  readonly base: StageBase;
  readonly platform: string | null;
  readonly instructions: readonly Instruction[];
}

export interface StagePlan {
  /** The stages that the last one needs, itself included, in the order in which to build them. */
  readonly stages: readonly PlannedStage[];
  readonly globals: Variables;
  readonly buildArgs: Variables;
  readonly escape: string;
  readonly fileName: string;
}

export interface PlanOptions {
  /** OCI platform of the build, for example `linux/amd64`. */
  readonly platform: string;
  readonly buildArgs?: Variables;
  readonly fileName?: string;
}

/**
 * Resolves every `FROM` and says which stages have to be built. Throws `BenchError` (config) for an
 * image name that expands to nothing or a stage that does not exist yet.
 */
export function planStages(dockerfile: Dockerfile, options: PlanOptions): StagePlan {
  const { buildArgs = {}, fileName = "Dockerfile" } = options;
  try {
    const globals = globalValues(dockerfile, options.platform, buildArgs);
    const planned = dockerfile.stages.map((stage) => planStage(stage, dockerfile, globals));
    const needed = neededStages(planned);
    const stages = planned.filter((stage) => needed.has(stage.index));
    return { stages, globals, buildArgs, escape: dockerfile.escape, fileName };
  } catch (error) {
    throw explainProblem(error, fileName);
  }
}

/** The scope at a stage's first instruction, on top of its base's configuration. */
export function startStage(plan: StagePlan, base: ImageConfig): StageScope {
  const { globals, buildArgs, escape, fileName } = plan;
  return { config: base, args: {}, globals, buildArgs, escape, fileName };
}

/** What `COPY --from=<from>` or a mount's `from` in stage `index` means. */
export function resolveFrom(stages: readonly NamedStage[], index: number, from: string): StageBase {
  const earlier = stages.filter((stage) => stage.index < index);
  const named = earlier.findLast((stage) => stage.name === from.toLowerCase());
  const found = named ?? earlier.find((stage) => String(stage.index) === from);
  return found === undefined
    ? { kind: "image", reference: from }
    : { kind: "stage", index: found.index };
}

interface NamedStage {
  readonly index: number;
  readonly name: string | null;
}

function planStage(stage: Stage, { stages, escape }: Dockerfile, globals: Variables): PlannedStage {
  const { line } = stage.from;
  const expand = (text: string) => expandAt(line, text, globals, escape);
  const reference = expand(stage.from.image);
  if (reference === "") {
    throw new DockerfileProblem(line, `FROM ${stage.from.image} expands to an empty image name`);
  }
  const resolved = resolveFrom(stages, stage.index, reference);
  // Unlike COPY --from, FROM knows stages by name only.
  const byNumber = /^\d+$/u.test(reference);
  const image: StageBase = { kind: "image", reference };
  const base: StageBase =
    reference === "scratch" ? { kind: "scratch" } : byNumber ? image : resolved;
  const { name, index, instructions } = stage;
  const platform = stage.from.platform === null ? null : expand(stage.from.platform);
  return { index, name, line, base, platform, instructions };
}

function expandAt(line: number, text: string, variables: Variables, escape: string): string {
  try {
    return expandWord(text, variables, { escape, quotes: "remove" });
  } catch (error) {
    throw new DockerfileProblem(line, error instanceof Error ? error.message : String(error));
  }
}

function globalValues(file: Dockerfile, platform: string, buildArgs: Variables): Variables {
  const [os = "linux", arch = "", variant = ""] = platform.split("/");
  const values: Record<string, string> = {};
  for (const side of ["TARGET", "BUILD"]) {
    values[`${side}PLATFORM`] = platform;
    values[`${side}OS`] = os;
    values[`${side}ARCH`] = arch;
    values[`${side}VARIANT`] = variant;
  }
  for (const instruction of file.globalArgs) {
    for (const { name, value } of instruction.args) {
      const given = Object.hasOwn(buildArgs, name) ? buildArgs[name] : undefined;
      const text = value === null ? null : expandAt(instruction.line, value, values, file.escape);
      const result = given ?? text;
      if (result !== null) values[name] = result;
    }
  }
  return values;
}

function neededStages(planned: readonly PlannedStage[]): ReadonlySet<number> {
  const needed = new Set<number>();
  const waiting = planned.slice(-1);
  for (let stage = waiting.pop(); stage !== undefined; stage = waiting.pop()) {
    if (needed.has(stage.index)) continue;
    needed.add(stage.index);
    for (const index of dependencies(stage, planned)) {
      const other = planned[index];
      if (other !== undefined) waiting.push(other);
    }
  }
  return needed;
}

function dependencies(stage: PlannedStage, planned: readonly PlannedStage[]): readonly number[] {
  const sources: StageBase[] = [stage.base];
  for (const each of stage.instructions) {
    const names: (string | null | undefined)[] = [];
    if (each.kind === "COPY") names.push(each.from);
    if (each.kind === "RUN") names.push(...each.mounts.map((mount) => mount.options["from"]));
    for (const name of names) {
      if (typeof name === "string") sources.push(resolveFrom(planned, stage.index, name));
    }
  }
  return sources.flatMap((source) => (source.kind === "stage" ? [source.index] : []));
}
