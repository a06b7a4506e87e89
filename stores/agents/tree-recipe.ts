import { createHash } from "node:crypto";
import * as z from "zod";
import type { TreeRecipe } from "../../core/ports/agent-trees.ts";

/** Raised when trees are made in another way from the same packages. */
const TREE_REVISION = 1;

const Lock = z.looseObject({
  lockfileVersion: z.int(),
  packages: z.record(z.string(), z.unknown()),
});

/** `NAME-DIGEST`, the folder of the tree: the digest is of the lock file, the packages and the platform. */
export function treeId({ name, platform, packages, lock }: TreeRecipe): string {
  const names = Object.keys(packages).toSorted();
  const versions = names.map((each) => [each, packages[each]]);
  const digest = createHash("sha256")
    .update(JSON.stringify([TREE_REVISION, platform, versions, lock]))
    .digest("hex");
  return `${name}-${digest.slice(0, 20)}`;
}

/** The two files that npm installs from; the second one only where there is a lock. */
export function manifestOf(recipe: TreeRecipe): { manifest: string; lock: string | null } {
  const manifest = JSON.stringify({
    name: "bench-agent",
    private: true,
    dependencies: recipe.packages,
  });
  if (recipe.lock === null) return { manifest, lock: null };
  const lock = Lock.parse(recipe.lock);
  const root = { name: "bench-agent", dependencies: recipe.packages };
  const packages = { ...lock.packages, "": root };
  return { manifest, lock: JSON.stringify({ ...lock, name: "bench-agent", packages }) };
}

/** npm's words for the platform's parts. Null for a platform that agents are not built for. */
export function npmPlatform(
  platform: string,
): { readonly os: string; readonly cpu: string } | null {
  const cpus: Readonly<Record<string, string>> = {
    "linux/amd64": "x64",
    "linux/arm64": "arm64",
  };
  const cpu = cpus[platform];
  return cpu === undefined ? null : { os: "linux", cpu };
}
