import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../core/errors.ts";
import { type ImageRequest, SandboxError } from "../../../core/ports/sandbox.ts";
import type { Instruction, RunInstruction } from "../../../core/tasks/dockerfile/instruction.ts";
import { leaveOut } from "../../../core/tasks/dockerfile/leave-out.ts";
import { parseDockerfile } from "../../../core/tasks/dockerfile/parse-dockerfile.ts";
import {
  type StagePlan,
  planStages,
  startStage,
} from "../../../core/tasks/dockerfile/plan-stages.ts";
import { EMPTY_IMAGE, type StageScope } from "../../../core/tasks/dockerfile/stage-scope.ts";

/** A Dockerfile of one stage, ready to be replayed. */
export interface BuildRecipe {
  /** The image reference of its `FROM`. */
  readonly from: string;
  readonly scope: StageScope;
  readonly instructions: readonly Instruction[];
}

const MAX_DOCKERFILE_BYTES = 1024 * 1024;

/**
 * Reads what has to be done for an image. Throws `build-failed` for a Dockerfile that Docker would
 * refuse, `unsupported` for what only Docker can build, with the line.
 */
export function readRecipe(request: ImageRequest, platform: string): BuildRecipe {
  const { source, contextDir, leaveOut: names = [] } = request;
  const text =
    source.kind === "prebuilt"
      ? `FROM ${source.reference}\n`
      : readDockerfile(join(contextDir, "Dockerfile"));
  const plan = planOf(text, platform);
  const [stage, ...others] = plan.stages;
  if (stage === undefined) throw new SandboxError("build-failed", "the Dockerfile builds nothing");
  if (others.length > 0) throw onlyDocker(stage.line, "a build of several stages");
  if (stage.base.kind !== "image") throw onlyDocker(stage.line, "FROM scratch");
  if (stage.platform !== null && stage.platform !== platform)
    throw onlyDocker(stage.line, `--platform=${stage.platform}`);
  for (const instruction of stage.instructions) assertReplayable(instruction);
  return {
    from: stage.base.reference,
    scope: startStage(plan, EMPTY_IMAGE),
    instructions: stage.instructions.flatMap((each) => leaveOut(each, names) ?? []),
  };
}

function readDockerfile(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) throw new SandboxError("build-failed", `no Dockerfile at ${path}`);
  if (stats.size > MAX_DOCKERFILE_BYTES)
    throw new SandboxError(
      "build-failed",
      `a Dockerfile of ${String(stats.size)} bytes, limit 1 MiB`,
    );
  return readFileSync(path, "utf8");
}

function planOf(text: string, platform: string): StagePlan {
  try {
    return planStages(parseDockerfile(text), { platform });
  } catch (error) {
    throw new SandboxError("build-failed", messageOf(error), { cause: error });
  }
}

function assertReplayable(each: Instruction): void {
  if (each.kind === "RUN") assertRunnable(each);
  if (each.kind === "COPY" && each.from !== null)
    throw onlyDocker(each.line, `COPY --from=${each.from}`);
  if (each.kind === "COPY" && each.parents) throw onlyDocker(each.line, "COPY --parents");
  if (each.kind === "ADD") {
    const remote = each.sources.find((source) => /^(https?|git|ssh):\/\/|^git@/u.test(source));
    if (remote !== undefined)
      throw onlyDocker(
        each.line,
        `ADD ${remote}, which needs a network that local build steps do not have`,
      );
  }
}

function assertRunnable({ line, mounts, network, security }: RunInstruction): void {
  const mount = mounts.find(({ type }) => type !== "cache" && type !== "tmpfs");
  if (mount !== undefined) throw onlyDocker(line, `RUN --mount=type=${mount.type}`);
  if (network === "host") throw onlyDocker(line, "RUN --network=host");
  if (security === "insecure") throw onlyDocker(line, "RUN --security=insecure");
}

function onlyDocker(line: number, what: string): SandboxError {
  return new SandboxError(
    "unsupported",
    `Dockerfile:${String(line)}: ${what} is not built on local: use --env docker`,
  );
}
