import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type ProcessSight, killProcess, seeProcess } from "../../processes.ts";
import type { CgroupVersion } from "./cgroup-layout.ts";
import { codeOf } from "../../../host/error-code.ts";

const FREEZE_WAIT_MS = 500;
const KILL_WAIT_MS = 20_000;
/** No fork takes longer; a killed process that does hangs in the kernel, and forks no more. */
const FORK_WAIT_MS = 2000;

/**
 * A cgroup that holds processes which cannot leave it: killing it is killing them, whatever they
 * forked, wherever they reparented to.
 */
export class TrackedGroup {
  readonly dir: string;
  readonly #version: CgroupVersion;

  constructor(version: CgroupVersion, dir: string) {
    this.dir = dir;
    this.#version = version;
  }

  make(): void {
    mkdirSync(this.dir);
  }

  /** A group inside this one, for one command. */
  child(name: string): TrackedGroup {
    return new TrackedGroup(this.#version, join(this.dir, name));
  }

  /** File that a process writes `0` to in order to join. */
  get joinFile(): string {
    return join(this.dir, "cgroup.procs");
  }

  /** Processes in it and in the groups below it that run. */
  processes(): ProcessSight[] {
    return this.#sights().filter(({ state }) => state === "running");
  }

  #sights(): ProcessSight[] {
    return pidsBelow(this.dir)
      .map((pid) => seeProcess(pid))
      .filter((sight) => sight !== null);
  }

  /**
   * Kills every process that `isWanted` says until none is left, and resolves to the count last
   * seen: 0, unless something cannot die within 20 s. The group stands still while it is searched,
   * so that a fork bomb cannot outrun the search.
   */
  async kill(isWanted: (sight: ProcessSight) => boolean): Promise<number> {
    const deadlineMs = performance.now() + KILL_WAIT_MS;
    for (let round = 0; ; round += 1) {
      if (this.processes().filter(isWanted).length === 0) return 0;
      await this.#freeze();
      let left = 0;
      try {
        const targets = this.processes().filter(isWanted);
        left = targets.length;
        for (const { pid } of targets) killProcess(pid);
      } finally {
        this.#thaw();
      }
      if (left > 0 && performance.now() > deadlineMs) return left;
      await delay(Math.min(1 + round, 20));
    }
  }

  /** Kills every process in it, and resolves when none runs any more; to the count left, mostly 0. */
  async killAll(): Promise<number> {
    const startMs = performance.now();
    for (let round = 0; ; round += 1) {
      this.#killAll();
      const alive = this.#sights().filter(({ state }) => state !== "ended");
      const left = alive.filter(({ state }) => state === "running").length;
      const elapsedMs = performance.now() - startMs;
      // One that was killed in the middle of a fork has a child that the kill and this look both missed.
      const mayFork = alive.length > left && elapsedMs < FORK_WAIT_MS;
      if ((left === 0 && !mayFork) || elapsedMs > KILL_WAIT_MS) return left;
      await delay(Math.min(1 + round, 20));
    }
  }

  /** Kills all of it, and removes it. Waits until both are true; resolves to the count left. */
  async end(): Promise<number> {
    const deadlineMs = performance.now() + KILL_WAIT_MS;
    const seen = new Map<number, ProcessSight>();
    for (let round = 0; ; round += 1) {
      for (const pid of pidsBelow(this.dir)) {
        const sight = seeProcess(pid);
        if (sight !== null) seen.set(pid, sight);
      }
      this.#killAll();
      // A process leaves its group before it has let go of its files and mounts.
      const left = [...seen.values()].filter(isStillThere).length;
      if (left === 0 && pidsBelow(this.dir).length === 0 && removeEmpty(this.dir)) return 0;
      if (performance.now() > deadlineMs) return Math.max(1, left);
      await delay(Math.min(1 + round, 20));
    }
  }

  /** Removes it when nothing lives in it any more; a daemon that a command left behind stays in it. */
  removeIfEmpty(): void {
    if (pidsBelow(this.dir).length === 0) removeEmpty(this.dir);
  }

  #killAll(): void {
    const killFile = join(this.dir, "cgroup.kill");
    if (this.#version === 2 && existsSync(killFile)) return writeIfThere(killFile, "1");
    if (this.#version === 1) writeIfThere(join(this.dir, "freezer.state"), "FROZEN");
    for (const pid of pidsBelow(this.dir)) killProcess(pid);
    this.#thaw();
  }

  async #freeze(): Promise<void> {
    const file = join(this.dir, this.#version === 2 ? "cgroup.freeze" : "freezer.state");
    const events = join(this.dir, this.#version === 2 ? "cgroup.events" : "freezer.state");
    writeIfThere(file, this.#version === 2 ? "1" : "FROZEN");
    const deadlineMs = performance.now() + FREEZE_WAIT_MS;
    // A process in an uninterruptible call freezes late; killing goes on without it, in rounds.
    while (existsSync(events) && performance.now() < deadlineMs) {
      if (/frozen 1|FROZEN/u.test(readFileSync(events, "utf8"))) return;
      await delay(1);
    }
  }

  #thaw(): void {
    if (this.#version === 2) writeIfThere(join(this.dir, "cgroup.freeze"), "0");
    else writeIfThere(join(this.dir, "freezer.state"), "THAWED");
  }
}

function isStillThere({ pid, startTicks }: ProcessSight): boolean {
  const sight = seeProcess(pid);
  return sight !== null && sight.startTicks === startTicks && sight.state !== "ended";
}

function pidsBelow(dir: string): number[] {
  try {
    const own = readFileSync(join(dir, "cgroup.procs"), "utf8").split("\n").filter(Boolean);
    const below = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [...own.map(Number), ...below.flatMap(({ name }) => pidsBelow(join(dir, name)))];
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** Removes a group and the groups below it; false while a process, a zombie too, is still in one. */
function removeEmpty(dir: string): boolean {
  try {
    for (const entry of readdirSync(dir, { withFileTypes: true }))
      if (entry.isDirectory() && !removeEmpty(join(dir, entry.name))) return false;
    rmdirSync(dir);
    return true;
  } catch (error) {
    if (isGone(error)) return true;
    if (codeOf(error) === "EBUSY" || codeOf(error) === "ENOTEMPTY") return false;
    throw error;
  }
}

/** Only the freezer's hierarchy has the freezer's file, and a group can go between two looks. */
function writeIfThere(path: string, text: string): void {
  if (!existsSync(path)) return;
  try {
    writeFileSync(path, text);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** A group may be removed by another command's `prune` at any moment. */
function isGone(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENODEV";
}
