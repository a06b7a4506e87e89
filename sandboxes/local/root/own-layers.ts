import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import { runTool } from "../../run-tool.ts";
import type { SystemTree } from "./host-facts.ts";

/**
 * `$1` is the machine's folder, `$2` the layer's, `$3` says whether files are copied too. Folders that
 * this user may not enter stay the machine's, and closed. Names that hardening asks the owner of (the
 * entry points of pytest plugins) are copied always: it believes root's files only.
 */
const LAYER_SCRIPT = `set -eu
umask 022
cd "$1"
find . -xdev -type d ! \\( -readable -executable \\) -prune -o -type d -print0 | ( cd "$2" && xargs -0 -r mkdir -p -- )
if [ "$3" = files ]; then
  find . -xdev -type d ! \\( -readable -executable \\) -prune -o -type f -readable -print0
else
  find . -xdev -type d ! \\( -readable -executable \\) -prune -o -type f -path '*-info/entry_points.txt' -print0
fi | xargs -0 -r cp --parents --preserve=timestamps,links -t "$2" --
if [ "$3" = files ]; then
  find . -xdev -type d ! \\( -readable -executable \\) -prune -o -type f ! -readable -size 0 -print0 |
    ( cd "$2" && xargs -0 -r touch -- )
fi`;

/**
 * Makes, in `target`, a layer for each of the machine's trees: its folders again, empty and owned by
 * root of this namespace. Mounted over the tree, they make of a folder that belongs to nobody one
 * that root inside may change, while its files stay the machine's: they can be run, removed and
 * replaced, but not written in place. The package manager's state is small, is written in place, and
 * is copied whole, its locks (which nobody else may read, and are empty) made anew.
 */
export async function makeOwnLayers(
  target: string,
  trees: readonly SystemTree[],
  hostRoot: string,
): Promise<void> {
  for (const { id, path } of trees) {
    const layer = join(target, id);
    mkdirSync(layer, { recursive: true });
    const what = path.startsWith("var/") ? "files" : "folders";
    const args = ["bench-layer", join(hostRoot, path), layer, what];
    const made = await runTool(["/bin/sh", "-c", LAYER_SCRIPT, ...args]);
    if (made.exitCode !== 0)
      throw new SandboxError(
        "backend-unavailable",
        `no layer over /${path} could be made: ${made.stderr.trim().split("\n")[0] ?? ""}`,
      );
  }
}
