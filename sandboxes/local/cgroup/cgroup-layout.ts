import { posix } from "node:path";

export type CgroupVersion = 1 | 2;
export type LimitController = "memory" | "cpu" | "cpuacct" | "pids";

/** A folder of a cgroup file system below which groups of sandboxes are made. */
export interface CgroupParent {
  readonly version: CgroupVersion;
  readonly dir: string;
}

/**
 * Where the groups of sandboxes go on this machine. `tracking` names a sandbox's processes and kills
 * them; `limits` hold memory, processor and processes, and may lie in other hierarchies (cgroup v1,
 * or the hybrid of both).
 */
export interface CgroupLayout {
  readonly tracking: CgroupParent | null;
  readonly limits: Readonly<Partial<Record<LimitController, CgroupParent>>>;
}

/** What the search reads of the machine. */
export interface CgroupSources {
  /** Text of /proc/self/mountinfo. */
  readonly mountinfo: string;
  /** Text of /proc/self/cgroup. */
  readonly selfCgroup: string;
  /** Text of a cgroup file, null when it is not there. */
  readonly read: (path: string) => string | null;
  /** Whether a group can be made in the folder. */
  readonly canMake: (dir: string) => boolean;
  /** Switches controllers on for a folder's groups; whether it went. */
  readonly enable: (dir: string, controllers: readonly string[]) => boolean;
}

interface Mount {
  readonly version: CgroupVersion;
  readonly mountPoint: string;
  readonly controllers: readonly string[];
  /** The folder of this process's own group. */
  readonly own: string;
}

const LIMIT_CONTROLLERS: readonly LimitController[] = ["memory", "cpu", "cpuacct", "pids"];

/**
 * Finds where groups can be made: below this process's own groups, so that limits that hold `bench`
 * hold its sandboxes; under cgroup v2 in the nearest group upwards that hands controllers down,
 * because one that has processes cannot (cgroup-v2.rst, "No Internal Process Constraint").
 */
export function findCgroupLayout(sources: CgroupSources): CgroupLayout {
  const mounts = parseMounts(sources).filter(({ own }) => sources.canMake(own));
  const unified = mounts.find(({ version }) => version === 2);
  const limits: Partial<Record<LimitController, CgroupParent>> = {};
  for (const controller of LIMIT_CONTROLLERS) {
    const legacy = mounts.find(
      (mount) => mount.version === 1 && mount.controllers.includes(controller),
    );
    if (legacy !== undefined) limits[controller] = { version: 1, dir: legacy.own };
  }
  const unifiedParent = unified === undefined ? null : findUnifiedParent(unified, sources);
  if (unifiedParent !== null && limits.memory === undefined) {
    for (const controller of unifiedParent.controllers)
      if (controller === "memory" || controller === "cpu" || controller === "pids")
        limits[controller] ??= { version: 2, dir: unifiedParent.dir };
    if (limits.cpu?.version === 2) limits.cpuacct ??= limits.cpu;
  }
  return { tracking: findTracking(mounts, unifiedParent?.dir ?? null, sources), limits };
}

/** cgroup v2 with cgroup.kill (Linux 5.14), else v1's freezer, else v2 with its own freezer. */
function findTracking(
  mounts: readonly Mount[],
  unifiedDir: string | null,
  sources: CgroupSources,
): CgroupParent | null {
  const freezer = mounts.find((mount) => mount.controllers.includes("freezer"));
  if (unifiedDir !== null && (freezer === undefined || hasKill(unifiedDir, sources)))
    return { version: 2, dir: unifiedDir };
  return freezer === undefined ? null : { version: 1, dir: freezer.own };
}

/** The root group has no cgroup.kill of its own: any group of it tells. */
function hasKill(dir: string, sources: CgroupSources): boolean {
  return sources.read(posix.join(dir, "cgroup.kill")) !== null || isRootOfKillers(dir, sources);
}

function isRootOfKillers(dir: string, sources: CgroupSources): boolean {
  const release = /^(\d+)\.(\d+)/u.exec(sources.read("/proc/sys/kernel/osrelease") ?? "");
  if (sources.read(posix.join(dir, "cgroup.type")) !== null || release === null) return false;
  return Number(release[1]) * 1000 + Number(release[2]) >= 5014;
}

function findUnifiedParent(
  unified: Mount,
  sources: CgroupSources,
): { readonly dir: string; readonly controllers: readonly string[] } | null {
  const wanted = ["memory", "pids", "cpu"];
  const handedDown = (dir: string): string[] =>
    words(sources.read(posix.join(dir, "cgroup.subtree_control")) ?? "");
  const chain = [unified.own];
  while (chain.at(-1) !== unified.mountPoint && chain.length < 64)
    chain.push(posix.dirname(chain.at(-1) ?? unified.mountPoint));
  const usable = chain.filter((dir) => sources.canMake(dir));
  const complete = usable.find((dir) => wanted.every((name) => handedDown(dir).includes(name)));
  if (complete !== undefined) return { dir: complete, controllers: handedDown(complete) };
  for (const dir of usable) {
    const present = words(sources.read(posix.join(dir, "cgroup.controllers")) ?? "");
    const missing = wanted.filter((name) => present.includes(name));
    if (missing.length > 0 && sources.enable(dir, missing))
      return { dir, controllers: handedDown(dir) };
  }
  const [own] = usable;
  return own === undefined ? null : { dir: own, controllers: handedDown(own) };
}

function parseMounts({ mountinfo, selfCgroup }: CgroupSources): Mount[] {
  const groups = selfCgroup.split("\n").map((line) => {
    const [, controllers = "", path = "/"] = /^\d+:([^:]*):(.*)$/u.exec(line) ?? [];
    return { controllers: controllers.split(","), path };
  });
  return mountinfo.split("\n").flatMap((line): Mount[] => {
    const [head = "", tail = ""] = line.split(" - ");
    const [, , , root = "/", mountPoint = "/"] = head.split(" ");
    const [type, , options = ""] = tail.split(" ");
    if (type === "cgroup2") {
      const path = groups.find(({ controllers }) => controllers[0] === "")?.path ?? "/";
      return [{ version: 2, mountPoint, controllers: [], own: ownDir(mountPoint, root, path) }];
    }
    if (type !== "cgroup") return [];
    const controllers = options.split(",");
    const path = groups.find((group) =>
      group.controllers.some((name) => name !== "" && controllers.includes(name)),
    )?.path;
    if (path === undefined) return [];
    return [{ version: 1, mountPoint, controllers, own: ownDir(mountPoint, root, path) }];
  });
}

/** In a container the mount shows a part of the hierarchy: `root` is where that part begins. */
function ownDir(mountPoint: string, root: string, path: string): string {
  if (root === "/") return posix.join(mountPoint, path);
  if (path === root || path.startsWith(`${root}/`))
    return posix.join(mountPoint, path.slice(root.length));
  return mountPoint;
}

function words(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== "");
}
