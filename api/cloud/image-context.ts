import { join } from "node:path";
import type { Task } from "../../core/model/task.ts";
import { inlineEntry } from "../../core/tar/inline-entry.ts";
import { writeTar } from "../../core/tar/write-tar.ts";
import { TASK_SKILLS } from "../../core/tasks/dockerfile/leave-out.ts";
import { readRecipe } from "../../sandboxes/docker/build-recipe.ts";
import { packContext } from "../../sandboxes/docker/pack-context.ts";
import { FARGATE_CAPS } from "../../sandboxes/fargate/fargate-caps.ts";
import { bytesOf } from "../../stores/objects/object-body.ts";

/**
 * A task's build context as it is sent: base images mapped, what `.dockerignore` names and the task's
 * skills left out, as a run here leaves them out; equal bytes for every checkout, since their hash is the
 * image's tag. Of a prebuilt image, a Dockerfile that takes it over.
 * Throws `SandboxError` (`build-failed`) for a Dockerfile that cannot be read.
 */
export async function packImageContext(
  task: Pick<Task, "dir" | "environmentDir" | "image">,
  baseImageMap: Readonly<Record<string, string>>,
): Promise<Uint8Array> {
  const source = task.image;
  if (source.kind === "prebuilt") {
    const base = baseImageMap[source.reference] ?? source.reference;
    return await bytesOf({ bytes: writeTar([inlineEntry("Dockerfile", `FROM ${base}\n`)]) });
  }
  const contextDir = join(task.dir, task.environmentDir);
  const { platform } = FARGATE_CAPS;
  const leaveOut = TASK_SKILLS;
  const recipe = await readRecipe({ contextDir, baseImageMap, platform, leaveOut });
  const replaced = recipe.isUnchanged ? [] : [{ name: "Dockerfile", content: recipe.text }];
  return await bytesOf({
    bytes: packContext(contextDir, { replaced, leaveOut, isReproducible: true }),
  });
}
