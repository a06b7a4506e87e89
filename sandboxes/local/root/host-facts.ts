import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** What /etc/os-release says of this machine's distribution. */
export interface HostFamily {
  /** `debian`, `ubuntu`, …; lower case. */
  readonly id: string;
  readonly versionId: string;
  readonly codename: string;
  /** The distributions it descends from, nearest first, itself included. */
  readonly like: readonly string[];
}

/** A folder of the host's that sandboxes see copy-on-write: changes stay in the sandbox. */
export interface SystemTree {
  /** Names the tree's layers; a path with `-` for `/`. */
  readonly id: string;
  /** Where it lies, on the host and in the sandbox, without the first `/`. */
  readonly path: string;
}

/** A top-level name that is a link on the host, as /bin is where /usr is merged. */
export interface SystemLink {
  readonly name: string;
  readonly target: string;
}

export interface SystemTrees {
  readonly trees: readonly SystemTree[];
  readonly links: readonly SystemLink[];
}

const SYSTEM_NAMES = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/**
 * The package manager's memory of what is installed: without it no package can be asked for inside.
 * What the host knows of newer versions (apt's lists) stays out: `apt-get install` of a package that
 * is there would want to upgrade it, and has no network to do so.
 */
const STATE_FOLDERS = ["var/lib/dpkg"];

/** The host's programs and libraries, as this machine has them laid out. */
export function findSystemTrees(hostRoot = "/"): SystemTrees {
  const trees: SystemTree[] = [];
  const links: SystemLink[] = [];
  for (const path of [...SYSTEM_NAMES, ...STATE_FOLDERS]) {
    const kind = kindOf(join(hostRoot, path));
    if (kind === "link") links.push({ name: path, target: readlinkSync(join(hostRoot, path)) });
    if (kind === "folder") trees.push({ id: path.replaceAll("/", "-"), path });
  }
  return { trees, links };
}

/** Reads os-release(5); a machine without one is of the family `unknown`. */
export function readHostFamily(hostRoot = "/"): HostFamily {
  const fields = new Map<string, string>();
  for (const line of readOsRelease(hostRoot).split("\n")) {
    const [, key, value] = /^([A-Z_]+)=["']?([^"']*)["']?\s*$/u.exec(line) ?? [];
    if (key !== undefined && value !== undefined) fields.set(key, value);
  }
  const id = (fields.get("ID") ?? "unknown").toLowerCase();
  const like = (fields.get("ID_LIKE") ?? "").toLowerCase().split(" ").filter(Boolean);
  return {
    id,
    versionId: fields.get("VERSION_ID") ?? "",
    codename: fields.get("VERSION_CODENAME") ?? "",
    like: [id, ...like],
  };
}

function readOsRelease(hostRoot: string): string {
  for (const path of ["etc/os-release", "usr/lib/os-release"])
    try {
      return readFileSync(join(hostRoot, path), "utf8");
    } catch {
      // The second name is the one that os-release(5) falls back to.
    }
  return "";
}

function kindOf(path: string): "link" | "folder" | "none" {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink() === true) return "link";
  return stats?.isDirectory() === true ? "folder" : "none";
}
