import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { TreeRecipe } from "../../core/ports/agent-trees.ts";
import { INSTALL_FLAGS, type NpmOptions, reasonIn, runNpm } from "./run-npm.ts";
import { manifestOf, npmPlatform } from "./tree-recipe.ts";

/**
 * Installs a recipe's packages into an empty folder with npm, from its lock where there is one, for
 * the recipe's platform and not this machine's. No script of a package is run: nothing of an agent is
 * ever executed outside a sandbox. Throws `BenchError` (`unavailable`) with npm's own reason.
 */
export async function installTree(
  recipe: TreeRecipe,
  dir: string,
  options: NpmOptions,
): Promise<void> {
  const platform = npmPlatform(recipe.platform);
  if (platform === null)
    throw new BenchError("usage", `there are no agents for ${recipe.platform} sandboxes`, {
      next: "use sandboxes of linux/amd64 or linux/arm64",
    });
  const { manifest, lock } = manifestOf(recipe);
  await writeFile(join(dir, "package.json"), manifest);
  if (lock !== null) await writeFile(join(dir, "package-lock.json"), lock);
  const argv = [
    lock === null ? "install" : "ci",
    ...INSTALL_FLAGS,
    "--install-links=false",
    `--os=${platform.os}`,
    `--cpu=${platform.cpu}`,
    "--libc=glibc",
  ];
  const { code, output } = await runNpm(argv, dir, options);
  options.signal.throwIfAborted();
  if (code === 0) return;
  throw new BenchError(
    "unavailable",
    `npm could not install ${recipe.name}: ${reasonIn(output) || `it ended with ${String(code)}`}`,
    { next: `check the network and npm's registry, then \`bench agents install ${recipe.name}\`` },
  );
}
