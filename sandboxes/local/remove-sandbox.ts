import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { TrackedGroup } from "./cgroup/tracked-group.ts";
import { allPids, argumentsOf, killProcess, seeProcess } from "./processes.ts";
import { readRecord, sandboxDir } from "./sandbox-record-file.ts";
import { type StateFolder, removeTree } from "./state-folder.ts";

const WAIT_MS = 20_000;

/**
 * Undoes a sandbox from its record alone, whoever made it and however far they came: its processes,
 * its cgroups, its loop device (which goes with its last mount, and the mounts with its last
 * process), its folder. Resolves when each of them is seen to be gone.
 */
export async function removeSandbox(state: StateFolder, id: string): Promise<void> {
  const dir = sandboxDir(state, id);
  const record = readRecord(state, id);
  killStarters(dir);
  for (const { version, dir: group } of record?.cgroups ?? []) {
    const left = await new TrackedGroup(version, group).end();
    if (left > 0)
      throw new SandboxError("start-failed", `${String(left)} processes of ${id} cannot be killed`);
  }
  await untilNone(() => starters(dir).map(String), `processes of ${id}`);
  await untilNoLoopDevice(dir);
  if (!existsSync(dir)) return;
  // The record goes last, so that a removal that is killed half-way can be done again.
  for (const name of readdirSync(dir))
    if (name !== "record.json") await removeTree(join(dir, name));
  rmSync(dir, { recursive: true, force: true });
}

/** Waits until the kernel has let go of the sandbox's disk, which happens after its last process. */
export async function untilNoLoopDevice(dir: string): Promise<void> {
  await untilNone(() => loopDevicesOf(dir), `loop devices of ${dir}`);
}

/** Loop devices whose file lies in the folder, from /sys/block. */
function loopDevicesOf(dir: string): string[] {
  return readdirSync("/sys/block")
    .filter((name) => name.startsWith("loop"))
    .filter((name) => backingFile(name).startsWith(`${dir}/`));
}

/**
 * Processes that are on their way into the sandbox and in none of its cgroups yet: host programs of
 * ours that have its folder as an argument.
 */
function starters(dir: string): number[] {
  return allPids().filter((pid) => {
    if (pid === process.pid || !argumentsOf(pid).includes(dir)) return false;
    const sight = seeProcess(pid);
    return sight !== null && sight.state !== "ended" && sight.depth === 0 && sight.uids[0] === 0;
  });
}

function killStarters(dir: string): void {
  for (const pid of starters(dir)) killProcess(pid);
}

async function untilNone(find: () => readonly string[], what: string): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MS;
  for (let round = 0; ; round += 1) {
    const left = find();
    if (left.length === 0) return;
    if (performance.now() > deadlineMs)
      throw new SandboxError("start-failed", `${what} do not go away: ${left.join(" ")}`);
    await delay(Math.min(1 + round, 20));
  }
}

/** A device that is free has no such file. */
function backingFile(name: string): string {
  try {
    return readFileSync(`/sys/block/${name}/loop/backing_file`, "utf8").trim();
  } catch {
    return "";
  }
}
