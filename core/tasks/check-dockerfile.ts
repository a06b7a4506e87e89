import { messageOf } from "../errors.ts";
import { IGNORE_FILES, isIgnored, parseDockerignore } from "./dockerfile/dockerignore.ts";
import type { Dockerfile } from "./dockerfile/parse-dockerfile.ts";
import { parseDockerfile } from "./dockerfile/parse-dockerfile.ts";
import type { StagePlan } from "./dockerfile/plan-stages.ts";
import { planStages } from "./dockerfile/plan-stages.ts";
import type { Finding } from "./finding.ts";
import { issue, warn } from "./finding.ts";
import type { ParsedTask } from "./parse-result.ts";
import type { TaskFiles } from "./task-files.ts";
import { entriesBelow } from "./task-files.ts";

/** Looks at the Dockerfile and what it copies, without building it. */
export function* checkDockerfile(files: TaskFiles, task: ParsedTask): Generator<Finding> {
  const path = `${task.environmentDir}/Dockerfile`;
  const text = files.texts.get(path);
  if (text === undefined) return;
  const { dockerImage } = task.config.sandbox;
  if (dockerImage !== null) {
    yield warn(`${path}: is not used, docker_image names ${dockerImage}`);
    return;
  }
  let dockerfile: Dockerfile;
  let plan: StagePlan;
  try {
    dockerfile = parseDockerfile(text, path);
    plan = planStages(dockerfile, { platform: "linux/amd64", fileName: path });
  } catch (error) {
    yield issue(messageOf(error));
    return;
  }
  for (const { base, line } of plan.stages) {
    if (base.kind !== "image" || isPinned(base.reference)) continue;
    yield warn(
      `${path}:${line}: ${base.reference} names no fixed version, the task may change under you`,
    );
  }
  yield* checkSources(files, task, dockerfile);
}

/** A tag other than latest, or a digest. A colon before the last slash is a port. */
function isPinned(reference: string): boolean {
  if (reference.includes("@")) return true;
  const tag = /:([^/:]+)$/u.exec(reference)?.[1] ?? "latest";
  return tag !== "latest";
}

function* checkSources(
  files: TaskFiles,
  { environmentDir }: ParsedTask,
  { instructions }: Dockerfile,
): Generator<Finding> {
  const path = `${environmentDir}/Dockerfile`;
  let sent: readonly string[];
  try {
    const name = IGNORE_FILES.find((each) => files.texts.has(`${environmentDir}/${each}`));
    const rules = parseDockerignore(files.texts.get(`${environmentDir}/${name ?? ""}`) ?? "");
    sent = entriesBelow(files, environmentDir)
      .map(([each]) => each)
      .filter((each) => !isIgnored(rules, each));
  } catch (error) {
    yield issue(`${environmentDir}/.dockerignore: ${messageOf(error)}`);
    return;
  }
  for (const each of instructions) {
    if (each.kind === "ADD" && each.sources.some((source) => source.includes("://"))) {
      yield warn(`${path}:${each.line}: ADD fetches from the network on every build`);
    }
    if (each.kind !== "COPY" || each.from !== null) continue;
    for (const source of each.sources) {
      const plain = source.replace(/^\.?\/+/u, "").replace(/\/+$/u, "");
      if (plain === "" || plain === "." || /[*?[\\$"']/u.test(plain) || plain.includes(".."))
        continue;
      if (sent.includes(plain)) continue;
      yield issue(`${path}:${each.line}: COPY ${source}: is not in the build context`);
    }
  }
}
