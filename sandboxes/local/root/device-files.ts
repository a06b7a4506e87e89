import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import type { Powers } from "../powers.ts";
import { runTool } from "../../run-tool.ts";

/** The harmless devices, which are all that a sandbox has. */
export const DEVICES: readonly string[] = ["null", "zero", "full", "random", "urandom", "tty"];

const DEVICE_LINKS: readonly (readonly [name: string, target: string])[] = [
  ["fd", "/proc/self/fd"],
  ["stdin", "fd/0"],
  ["stdout", "fd/1"],
  ["stderr", "fd/2"],
  ["ptmx", "pts/ptmx"],
];

/** What every sandbox's /dev is copied from; empty files where the machine's devices are mounted on them. */
export async function fillDevices(folder: string, { makesDevices }: Powers): Promise<void> {
  for (const name of ["pts", "shm"]) mkdirSync(join(folder, name), { recursive: true });
  for (const [name, target] of DEVICE_LINKS) symlinkSync(target, join(folder, name));
  if (!makesDevices) {
    for (const name of DEVICES) writeFileSync(join(folder, name), "");
    return;
  }
  const copied = await runTool(["cp", "-a", ...DEVICES.map((name) => `/dev/${name}`), folder]);
  if (copied.exitCode !== 0)
    throw new SandboxError(
      "backend-unavailable",
      `devices cannot be made: ${copied.stderr.trim()}`,
    );
  for (const name of DEVICES) chmodSync(join(folder, name), 0o666);
}
