import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxLimits, SandboxStats } from "../../../core/ports/sandbox.ts";
import { codeOf } from "../../../host/error-code.ts";
import type { CommandGroup, SandboxGroup } from "../sandbox-group.ts";
import type { CgroupLayout, CgroupParent, LimitController } from "./cgroup-layout.ts";
import { TrackedGroup } from "./tracked-group.ts";

/** One folder of a sandbox's groups: what its record keeps, so that any process can remove it. */
export interface CgroupFolder {
  readonly version: 1 | 2;
  readonly dir: string;
}

/** cgroup periods are 100 ms, as Docker's and systemd's. */
const CPU_PERIOD_US = 100_000;
const MIB = 1024 * 1024;
/** The entrance on the host and the command's first process. */
const ENTRANCE_PROCESSES = 2;

/** The folders that a sandbox of this name gets, the tracking one first. None exists yet. */
export function cgroupFolders(layout: CgroupLayout, name: string): CgroupFolder[] {
  const parents = [layout.tracking, ...Object.values(layout.limits)].filter(
    (parent) => parent !== null,
  );
  const seen = new Map<string, CgroupFolder>();
  for (const { version, dir } of parents) seen.set(dir, { version, dir: join(dir, name) });
  return [...seen.values()];
}

const STALE_MS = 3_600_000;

/**
 * Removes empty groups of sandboxes whose state folder is gone with their records: a sandbox that
 * lives has a process, and one that is being made is not an hour old.
 */
export function removeStaleGroups(layout: CgroupLayout, prefix: string): void {
  for (const { dir } of cgroupFolders(layout, "")) {
    for (const name of readdirSync(dir).filter((each) => each.startsWith(prefix))) {
      const group = join(dir, name);
      const madeAtMs = statSync(group, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - madeAtMs > STALE_MS) new TrackedGroup(1, group).removeIfEmpty();
    }
  }
}

/** The groups of one sandbox: its processes, its limits, what it used. */
export class SandboxCgroup implements SandboxGroup {
  readonly tracked: TrackedGroup;
  readonly #folders: readonly CgroupFolder[];
  readonly #limitDirs: Readonly<Partial<Record<LimitController, CgroupParent>>>;
  #commands = 0;

  constructor(layout: CgroupLayout, name: string) {
    const { tracking } = layout;
    if (tracking === null) throw new Error("no cgroup to track processes in");
    this.#folders = cgroupFolders(layout, name);
    this.tracked = new TrackedGroup(tracking.version, join(tracking.dir, name));
    const limits = Object.entries(layout.limits).map(
      ([controller, { version, dir }]) => [controller, { version, dir: join(dir, name) }] as const,
    );
    this.#limitDirs = Object.fromEntries(limits);
  }

  make(limits: SandboxLimits): void {
    for (const { dir } of this.#folders) mkdirSync(dir);
    const { memory, cpu, pids } = this.#limitDirs;
    if (memory !== undefined) limitMemory(memory, limits.memoryMb * MIB);
    if (pids !== undefined) writeFileSync(join(pids.dir, "pids.max"), String(limits.pids));
    if (cpu !== undefined) limitCpu(cpu, limits.cpus);
  }

  started(): void {
    // Processes join by themselves: nobody has to be told which.
  }

  /** A group for one command inside the sandbox's. */
  openCommand(): CommandGroup {
    this.#commands += 1;
    const group = this.tracked.child(`command-${String(this.#commands)}`);
    group.make();
    return {
      joinFiles: [...this.joinFiles.slice(1), group.joinFile],
      entering: { before: [], options: [], words: [] },
      tellsMissingShell: true,
      started: () => undefined,
      killAll: async () => await group.killAll(),
      removeIfEmpty: () => {
        group.removeIfEmpty();
      },
    };
  }

  get joinFiles(): string[] {
    return this.#folders.map(({ dir }) => join(dir, "cgroup.procs"));
  }

  hasRoom(): boolean {
    const { pids } = this.#limitDirs;
    if (pids === undefined) return true;
    const current = numberIn(join(pids.dir, "pids.current"), /^(\d+)/u) ?? 0;
    const max = numberIn(join(pids.dir, "pids.max"), /^(\d+)/u) ?? Number.MAX_SAFE_INTEGER;
    return current + ENTRANCE_PROCESSES <= max;
  }

  stats(): Omit<SandboxStats, "diskBytes"> {
    const { memory, cpuacct } = this.#limitDirs;
    return {
      peakMemoryBytes: memory === undefined ? null : peakMemory(memory),
      oomKills: memory === undefined ? null : oomKills(memory),
      cpuSeconds: cpuacct === undefined ? null : cpuSeconds(cpuacct),
    };
  }
}

function limitMemory({ version, dir }: CgroupParent, maxBytes: number): void {
  if (version === 2) {
    writeFileSync(join(dir, "memory.max"), String(maxBytes));
    writeWherePresent(join(dir, "memory.swap.max"), "0");
    return;
  }
  writeFileSync(join(dir, "memory.limit_in_bytes"), String(maxBytes));
  writeWherePresent(join(dir, "memory.memsw.limit_in_bytes"), String(maxBytes));
}

function limitCpu({ version, dir }: CgroupParent, cpus: number): void {
  const quotaUs = Math.max(1000, Math.round(cpus * CPU_PERIOD_US));
  if (version === 2) {
    writeFileSync(join(dir, "cpu.max"), `${String(quotaUs)} ${String(CPU_PERIOD_US)}`);
    return;
  }
  writeFileSync(join(dir, "cpu.cfs_period_us"), String(CPU_PERIOD_US));
  writeFileSync(join(dir, "cpu.cfs_quota_us"), String(quotaUs));
}

function peakMemory({ version, dir }: CgroupParent): number | null {
  return numberIn(
    join(dir, version === 2 ? "memory.peak" : "memory.max_usage_in_bytes"),
    /^(\d+)/u,
  );
}

function oomKills({ version, dir }: CgroupParent): number | null {
  return numberIn(
    join(dir, version === 2 ? "memory.events" : "memory.oom_control"),
    /^oom_kill (\d+)/mu,
  );
}

function cpuSeconds({ version, dir }: CgroupParent): number | null {
  if (version === 2) {
    const usedUs = numberIn(join(dir, "cpu.stat"), /^usage_usec (\d+)/mu);
    return usedUs === null ? null : usedUs / 1e6;
  }
  const usedNs = numberIn(join(dir, "cpuacct.usage"), /^(\d+)/u);
  return usedNs === null ? null : usedNs / 1e9;
}

/** Null where the kernel has no such file: memory.peak came with 5.19, oom_kill in v1 with 4.13. */
function numberIn(path: string, pattern: RegExp): number | null {
  try {
    const digits = pattern.exec(readFileSync(path, "utf8"))?.[1];
    return digits === undefined ? null : Number(digits);
  } catch {
    return null;
  }
}

/** Swap accounting is a kernel option: without it there is no such file, and nothing to limit. */
function writeWherePresent(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    if (!["ENOENT", "EACCES", "EOPNOTSUPP"].includes(codeOf(error))) throw error;
  }
}
