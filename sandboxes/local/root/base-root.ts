import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { MACHINE_POWERS, type Powers } from "../powers.ts";
import type { StateFolder } from "../state-folder.ts";
import { BOX } from "../boot-tables.ts";
import { type AccountFiles, makeAccountFiles } from "./account-files.ts";
import { fillDevices } from "./device-files.ts";
import { copyEtc } from "./etc-files.ts";
import {
  type HostFamily,
  type SystemTrees,
  findSystemTrees,
  readHostFamily,
} from "./host-facts.ts";
import { makeOwnLayers } from "./own-layers.ts";

/** The bottom of every local sandbox's file system, made once for each state of this machine. */
export interface BaseRoot {
  /** Changes when the machine's packages or generated files do. */
  readonly key: string;
  /**
   * Its folder below the state folder: `root` is the sandbox's, `kit` what lies around
   * it, `dev` its /dev, `disk` what an empty disk holds, `disks` those disks by size.
   */
  readonly path: string;
  readonly system: SystemTrees;
  readonly family: HostFamily;
  /** Folder below `path` with a layer for each tree, to be mounted over it; null where none is needed. */
  readonly ownLayers: "own" | null;
}

/** Raised when what a base holds changes, so that older ones are not taken for new. */
const LAYOUT = "3";

const FOLDERS: readonly (readonly [path: string, mode: number])[] = [
  ["dev", 0o755],
  ["etc", 0o755],
  ["etc/apt", 0o755],
  ["etc/apt/apt.conf.d", 0o755],
  ["etc/apt/preferences.d", 0o755],
  ["etc/apt/sources.list.d", 0o755],
  ["home", 0o755],
  ["media", 0o755],
  ["mnt", 0o755],
  ["opt", 0o755],
  ["proc", 0o555],
  ["root", 0o700],
  ["run", 0o755],
  ["run/lock", 0o1777],
  ["srv", 0o755],
  ["sys", 0o555],
  ["tmp", 0o1777],
  ["var", 0o755],
  ["var/backups", 0o755],
  ["var/cache", 0o755],
  ["var/cache/apt", 0o755],
  ["var/cache/apt/archives", 0o755],
  ["var/cache/apt/archives/partial", 0o700],
  ["var/cache/debconf", 0o755],
  ["var/lib", 0o755],
  ["var/lib/apt", 0o755],
  ["var/lib/apt/lists", 0o755],
  ["var/lib/apt/lists/partial", 0o700],
  ["var/lib/misc", 0o755],
  ["var/local", 0o755],
  ["var/log", 0o755],
  ["var/log/apt", 0o755],
  ["var/mail", 0o755],
  ["var/opt", 0o755],
  ["var/spool", 0o755],
  ["var/tmp", 0o1777],
];

/** Name of every sandbox in its own eyes. */
export const SANDBOX_HOSTNAME = "sandbox";

/** Finds the machine's base root, or makes it. `includes` are `--local-include` paths, absolute. */
export async function openBaseRoot(
  state: StateFolder,
  includes: readonly string[],
  powers: Powers = MACHINE_POWERS,
  hostRoot = "/",
): Promise<BaseRoot> {
  const system = findSystemTrees(hostRoot);
  const family = readHostFamily(hostRoot);
  const key = keyOf(hostRoot, system, includes, powers);
  const path = join("bases", key.slice(0, 32));
  const target = join(state.dir, path);
  if (!existsSync(target)) {
    const staged = state.stage();
    fillRoot(join(staged, "root"), { system, includes, hostRoot });
    fillKit(join(staged, "kit"), system);
    for (const id of ["root", ...system.trees.map((tree) => tree.id)])
      for (const name of ["up", "work"])
        mkdirSync(join(staged, "disk", id, name), { recursive: true });
    mkdirSync(join(staged, "disks"));
    await fillDevices(join(staged, "dev"), powers);
    if (!powers.ownsSystem) await makeOwnLayers(join(staged, "own"), system.trees, hostRoot);
    state.publish(staged, target);
  }
  return { key, path, system, family, ownLayers: powers.ownsSystem ? null : "own" };
}

function keyOf(
  hostRoot: string,
  system: SystemTrees,
  includes: readonly string[],
  { scope }: Powers,
): string {
  const hash = createHash("sha256");
  const add = (part: string | Buffer): void => {
    hash.update(`${String(part.length)}:`).update(part);
  };
  add(JSON.stringify([LAYOUT, system, includes]));
  if (scope !== "machine") add(scope);
  // Of accounts what sandboxes get: a person more or less on this machine makes no other base.
  add(JSON.stringify(readAccounts(hostRoot)));
  for (const path of ["etc/os-release", "var/lib/dpkg/status", "etc/ld.so.cache"])
    add(existsSync(join(hostRoot, path)) ? readFileSync(join(hostRoot, path)) : "");
  for (const path of ["etc/alternatives", "etc/ssl/certs", "etc/localtime", "etc/apt"])
    add(String(lstatSync(join(hostRoot, path), { throwIfNoEntry: false })?.mtimeMs ?? 0));
  return hash.digest("hex");
}

interface Filling {
  readonly system: SystemTrees;
  readonly includes: readonly string[];
  readonly hostRoot: string;
}

/** The root of the sandbox's mount namespace, below which the sandbox's own root lies. */
function fillKit(kit: string, system: SystemTrees): void {
  for (const name of [BOX, "dev", "old"]) mkdirSync(join(kit, name), { recursive: true });
  symlinkSync(`${BOX}/proc`, join(kit, "proc"));
  // perl reads on from /dev/null behind its -e: an empty file that nobody can change, not the sandbox's.
  writeFileSync(join(kit, "dev/null"), "");
  for (const { path } of system.trees) if (!path.includes("/")) mkdirSync(join(kit, path));
  for (const { name, target } of system.links) symlinkSync(target, join(kit, name));
}

function fillRoot(root: string, { system, includes, hostRoot }: Filling): void {
  for (const [path, mode] of FOLDERS) makeFolder(join(root, path), mode);
  for (const { path } of system.trees)
    mkdirSync(join(root, path), { recursive: true, mode: 0o755 });
  for (const { name, target } of system.links) symlinkSync(target, join(root, name));
  symlinkSync("/run", join(root, "var/run"));
  symlinkSync("/run/lock", join(root, "var/lock"));
  copyEtc(hostRoot, join(root, "etc"));
  writeAccounts(root, hostRoot);
  const texts: Record<string, string> = {
    "etc/hostname": `${SANDBOX_HOSTNAME}\n`,
    "etc/hosts": `127.0.0.1\tlocalhost ${SANDBOX_HOSTNAME}\n::1\tlocalhost ip6-localhost ip6-loopback\n`,
    "etc/resolv.conf": "",
    "etc/machine-id": "",
    // No name servers either: a name that cannot be resolved is refused at once, not after retries.
    "etc/nsswitch.conf":
      "passwd: files\ngroup: files\nshadow: files\nhosts: files\nprotocols: files\nservices: files\n",
    "etc/environment": "",
    // There is no network: asking again takes apt seven seconds and changes nothing.
    "etc/apt/apt.conf.d/99local-sandbox": 'Acquire::Retries "0";\n',
    "etc/fstab": "",
  };
  for (const [path, text] of Object.entries(texts))
    writeFileSync(join(root, path), text, { mode: 0o644 });
  const profile = join(hostRoot, "usr/share/base-files/profile");
  if (existsSync(profile)) writeFileSync(join(root, "etc/profile"), readFileSync(profile));
  for (const path of includes) makeIncludePoint(root, path);
}

function writeAccounts(root: string, hostRoot: string): void {
  const accounts = readAccounts(hostRoot);
  writeFileSync(join(root, "etc/passwd"), accounts.passwd, { mode: 0o644 });
  writeFileSync(join(root, "etc/group"), accounts.group, { mode: 0o644 });
  writeFileSync(join(root, "etc/shadow"), accounts.shadow, { mode: 0o640 });
  writeFileSync(join(root, "etc/gshadow"), accounts.gshadow, { mode: 0o640 });
}

function readAccounts(hostRoot: string): AccountFiles {
  const text = (path: string): string => readFileSync(join(hostRoot, path), "utf8");
  return makeAccountFiles(text("etc/passwd"), text("etc/group"));
}

/** An empty place for an included path; the folders above it can be passed through by every uid. */
function makeIncludePoint(root: string, path: string): void {
  const isFile = lstatSync(path).isFile();
  const parent = join(root, dirname(path));
  mkdirSync(parent, { recursive: true, mode: 0o755 });
  for (let folder = parent; folder !== root; folder = dirname(folder))
    chmodSync(folder, (lstatSync(folder).mode & 0o7777) | 0o111);
  if (isFile) writeFileSync(join(root, path), "", { mode: 0o644 });
  else mkdirSync(join(root, path), { recursive: true });
}

function makeFolder(path: string, mode: number): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
}
