import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import { runTool } from "../../run-tool.ts";

/**
 * Copies the upper folders of a sandbox's overlays out of its disk, in a mount namespace of its own,
 * so that nothing stays mounted whatever happens. Owners, modes, whiteouts and overlayfs's own
 * attributes come along; empty ones are left out.
 */
const CAPTURE_SCRIPT = `set -eu
cd "$1"
[ ! -f disk.img ] || mount -n -t ext4 -o loop,ro,nosuid,nodev disk.img disk
for up in disk/*/up; do
  [ -n "$(ls -A "$up")" ] || continue
  id=\${up#disk/}
  cp -a --one-file-system "$up" "$2/\${id%/up}"
done
[ ! -f disk.img ] || umount -n disk
sync -f "$2"`;

/** Copies what a sandbox changed into `target`, one folder a tree. Its processes must have ended. */
export async function captureLayers(sandboxDir: string, target: string): Promise<void> {
  mkdirSync(target);
  const done = await runTool([
    "unshare",
    "--mount",
    "--propagation",
    "private",
    "/bin/sh",
    "-c",
    CAPTURE_SCRIPT,
    "bench-capture",
    sandboxDir,
    target,
  ]);
  if (done.exitCode === 0) return;
  const isFull = /No space left/u.test(done.stderr);
  throw new SandboxError(
    isFull ? "disk-full" : "build-lost",
    `the image could not be kept in ${join(target, "..")}: ${done.stderr.trim().split("\n")[0] ?? ""}`,
  );
}
