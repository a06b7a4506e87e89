import type { Task } from "../model/task.ts";

/** The digest of what the task's image is built from; null for a prebuilt image. */
export function contextDigestOf({ image }: Pick<Task, "image">): string | null {
  return image.kind === "dockerfile" ? image.contextDigest : null;
}

/**
 * Whether two digests may be of the same thing. One that is not known on either side, as in files
 * from before it was recorded, cannot tell two versions apart.
 */
export function mayEqual(a: string | null, b: string | null): boolean {
  return a === null || b === null || a === b;
}
