import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { TrackedGroup } from "./cgroup/tracked-group.ts";
import {
  allPids,
  argumentsOf,
  groupsOf,
  killProcess,
  seeProcess,
  variablesOf,
} from "../processes.ts";
import { RECORD_FILE, readRecord, sandboxDir } from "./sandbox-record-file.ts";
import { DIR_VARIABLE } from "./start-supervisor.ts";
import { type StateFolder, removeTree } from "./state-folder.ts";

const WAIT_MS = 20_000;

/**
 * Undoes a sandbox from its record alone, whoever made it and however far they came: its processes,
 * its cgroups, its loop device (which goes with its last mount, and the mounts with its last
 * process), its folder. Resolves when each of them is seen to be gone. Whoever started all of its
 * processes gives `untilEnded`, which resolves at their end, and spares the search for them.
 */
export async function removeSandbox(
  state: StateFolder,
  id: string,
  untilEnded?: () => Promise<void>,
): Promise<void> {
  const dir = sandboxDir(state, id);
  const record = readRecord(state, id);
  // On its way in a process is in none of the cgroups yet, but has the folder as an argument.
  if (untilEnded === undefined)
    for (const pid of processesOf(id, dir))
      if (isStarter(pid, dir) || isFirst(pid, dir)) killProcess(pid);
  for (const { version, dir: group } of record?.cgroups ?? []) {
    const left = await new TrackedGroup(version, group).end();
    if (left > 0)
      throw new SandboxError("start-failed", `${String(left)} processes of ${id} cannot be killed`);
  }
  if (untilEnded === undefined)
    await untilNone(() => processesOf(id, dir).map(String), `processes of ${id}`);
  else await untilEnded();
  await untilNoLoopDevice(dir);
  // The record goes last, so that a removal that is killed half-way can be done again.
  rmSync(join(dir, "disk.img"), { force: true });
  // Without a disk limit it holds the sandbox's files, as deep and as odd as the task liked.
  if (existsSync(join(dir, "disk")) && readdirSync(join(dir, "disk")).length > 0)
    await removeTree(join(dir, "disk"));
  for (const name of readdirIfThere(dir))
    if (name !== RECORD_FILE) rmSync(join(dir, name), { recursive: true, force: true });
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

/** Our own scripts are called `bench-…`, with the sandbox's folder as their first argument. */
function isStarter(pid: number, dir: string): boolean {
  const words = argumentsOf(pid);
  return words.some((word, at) => word === dir && words[at - 1]?.startsWith("bench-") === true);
}

/** The sandbox's first process: it takes all others along. */
function isFirst(pid: number, dir: string): boolean {
  return variablesOf(pid).includes(`${DIR_VARIABLE}=${dir}`);
}

/**
 * Processes that are on their way into the sandbox's folder, or are in a group of its name: also
 * those that a cgroup no longer lists because they are ending. A zombie holds nothing.
 */
function processesOf(id: string, dir: string): number[] {
  return allPids().filter((pid) => {
    if (pid === process.pid) return false;
    if (!isStarter(pid, dir) && !groupsOf(pid).includes(id) && !isFirst(pid, dir)) return false;
    return (seeProcess(pid)?.state ?? "ended") !== "ended";
  });
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

/** Another command may remove the same sandbox at the same time. */
function readdirIfThere(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir) : [];
}
