import { existsSync } from "node:fs";
import type { ReadOnlyMount } from "../../core/ports/sandbox.ts";
import type { Powers } from "./powers.ts";
import { DEVICES } from "./root/device-files.ts";
import type { SystemTrees } from "./root/host-facts.ts";

/** A path of the host's that a sandbox sees read-only, where it lies on the host. */
export interface IncludedPath {
  readonly path: string;
  /** The same with every link resolved: what is mounted. */
  readonly resolved: string;
}

/** What a sandbox's file system is made of. */
export interface BootPlan {
  /** The sandbox's folder, with `ns` and `disk` in it. */
  readonly dir: string;
  readonly powers: Powers;
  /** Folder of the base root. */
  readonly base: string;
  /** File to copy for a file system of the sandbox's own; null for plain folders, without a limit. */
  readonly diskTemplate: string | null;
  /** Lower folders of `/`, relative to `dir`, top first, joined by `:`. */
  readonly rootLower: string;
  readonly treeLowers: readonly {
    readonly id: string;
    readonly path: string;
    readonly lower: string;
  }[];
  readonly system: SystemTrees;
  readonly includes: readonly IncludedPath[];
  /** What this one sandbox sees of the host, read-only; where it is missing, its folder is made. */
  readonly mounts: readonly ReadOnlyMount[];
}

/** Three mount tables (fstab(5)), to be mounted one after another; lines in order. */
export interface BootTables {
  /** The namespace's root, the disk, and the sandbox's root. */
  readonly roots: readonly string[];
  /** What lies on the sandbox's root, once its folders are seen to be folders. */
  readonly trees: readonly string[];
  /** What needs the sandbox's own /dev and /proc. */
  readonly kernel: readonly string[];
  /** Folders of the sandbox's root that must be no links, without the first `/`. */
  readonly plainPaths: readonly string[];
  /** The same for folders that are made where the image has none. */
  readonly madePaths: readonly string[];
}

/** Name of the sandbox's root in the root of its mount namespace. */
export const BOX = "box";

const DISK_OPTIONS = "loop,noinit_itable,nobarrier,nosuid,nodev,noatime";

/** Kernel files that Docker masks or makes read-only, and a few more that tell of the host. */
const MASKED_FILES = [
  "kcore",
  "keys",
  "kmsg",
  "timer_list",
  "timer_stats",
  "latency_stats",
  "sched_debug",
  "interrupts",
  "kpagecount",
  "kpageflags",
];
const MASKED_FOLDERS = ["acpi", "asound", "scsi"];
const READ_ONLY = ["bus", "fs", "irq", "sys", "sysrq-trigger"];

/** The mounts of a sandbox, as data. `hasKernelFile` says what this kernel's /proc has. */
export function bootTables(
  plan: BootPlan,
  hasKernelFile: (name: string) => boolean = (name) => existsSync(`/proc/${name}`),
): BootTables {
  const ns = `${plan.dir}/ns`;
  const box = `${ns}/${BOX}`;
  const proc = `${box}/proc`;
  const disk = `${plan.dir}/disk`;
  const kitPaths = plan.system.trees.map(({ path }) => path).filter((path) => !path.includes("/"));
  const roots = [line(`${plan.base}/kit`, ns, "none", "bind,ro,nosuid,nodev")];
  if (plan.diskTemplate !== null)
    roots.push(line(`${plan.dir}/disk.img`, disk, "ext4", DISK_OPTIONS));
  const overlayAt = (id: string, target: string, lower: string): string =>
    line("overlay", target, "overlay", plan.powers.overlayOptions + overlayOptions(id, lower));
  roots.push(overlayAt("root", box, plan.rootLower));
  return {
    roots,
    trees: [
      ...plan.treeLowers.map(({ id, path, lower }) => overlayAt(id, `${box}/${path}`, lower)),
      ...kitPaths.map((path) => line(`/${path}`, `${ns}/${path}`, "none", "bind,ro,nosuid,nodev")),
      ...plan.includes.map(({ path, resolved }) =>
        line(resolved, box + path, "none", "bind,ro,nosuid,nodev"),
      ),
      ...plan.mounts.map(({ hostDir, path }) =>
        line(hostDir, box + path, "none", "bind,ro,nosuid,nodev"),
      ),
      line("proc", proc, "proc", "nosuid,nodev,noexec"),
      line("tmpfs", `${box}/dev`, "tmpfs", "mode=0755,nosuid,noexec,size=64k"),
    ],
    kernel: [
      ...(plan.powers.makesDevices ? [] : DEVICES).map((name) =>
        line(`/dev/${name}`, `${box}/dev/${name}`, "none", "bind"),
      ),
      line(
        "devpts",
        `${box}/dev/pts`,
        "devpts",
        "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620",
      ),
      line("tmpfs", `${box}/dev/shm`, "tmpfs", "nosuid,nodev,noexec,mode=1777,size=64m"),
      ...MASKED_FILES.filter(hasKernelFile).map((name) =>
        line(`${box}/dev/null`, `${proc}/${name}`, "none", "bind"),
      ),
      ...MASKED_FOLDERS.filter(hasKernelFile).map((name) =>
        line("tmpfs", `${proc}/${name}`, "tmpfs", "ro,nosuid,nodev,noexec,size=4k"),
      ),
      ...READ_ONLY.filter(hasKernelFile).map((name) =>
        line(`${proc}/${name}`, `${proc}/${name}`, "none", "bind,ro,nosuid,nodev,noexec"),
      ),
    ],
    plainPaths: [
      "proc",
      "dev",
      "sys",
      ...plan.treeLowers.map(({ path }) => path),
      ...plan.includes.map(({ path }) => path.slice(1)),
    ],
    madePaths: plan.mounts.map(({ path }) => path.slice(1)),
  };
}

/** Lower and upper folders are relative to the sandbox's folder: overlay's options know no quoting. */
function overlayOptions(id: string, lower: string): string {
  return `nosuid,nodev,lowerdir=${lower},upperdir=disk/${id}/up,workdir=disk/${id}/work`;
}

function line(source: string, target: string, type: string, options: string): string {
  return `${escapePath(source)} ${escapePath(target)} ${type} ${options} 0 0`;
}

/** A path as fstab(5) and /proc/self/mountinfo spell it. */
export function escapePath(path: string): string {
  return path.replaceAll(
    /[ \t\n\\]/gu,
    (char) => `\\${(char.codePointAt(0) ?? 0).toString(8).padStart(3, "0")}`,
  );
}
