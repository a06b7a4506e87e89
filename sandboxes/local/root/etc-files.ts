import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";

/**
 * Parts of /etc that packages generate on each machine and programs cannot do without. None of them
 * can hold a secret: names of libraries and programs, public certificates, the time zone, where
 * packages come from.
 */
const GENERATED = [
  "alternatives",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "ssl/certs",
  "ca-certificates.conf",
  "pki/tls/certs",
  "pki/ca-trust/extracted",
  "os-release",
  "debian_version",
  "lsb-release",
  "localtime",
  "timezone",
  "locale.gen",
  "default/locale",
  "mime.types",
  "apt/sources.list",
  "apt/sources.list.d",
  "apt/trusted.gpg.d",
  "apt/keyrings",
];

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Copies into `target` the parts of the host's /etc that a sandbox may see: the generated ones above,
 * and the packages' configuration files that are byte for byte what their package brought (dpkg keeps
 * their MD5 sums): what an administrator changed, and could hide a password in, is not among them.
 */
export function copyEtc(hostRoot: string, target: string): void {
  for (const path of GENERATED) copyTree(join(hostRoot, "etc", path), join(target, path));
  for (const { path, md5 } of pristineCandidates(hostRoot))
    if (path.startsWith("etc/") && md5 === md5Of(join(hostRoot, path)))
      copyFile(join(hostRoot, path), join(target, path.slice("etc/".length)));
}

/** `Conffiles:` of /var/lib/dpkg/status: one ` /etc/path md5[ obsolete]` a line. */
function pristineCandidates(hostRoot: string): { readonly path: string; readonly md5: string }[] {
  const status = readIfThere(join(hostRoot, "var/lib/dpkg/status")) ?? Buffer.alloc(0);
  return [...status.toString("utf8").matchAll(/^ \/(etc\/\S+) ([0-9a-f]{32})$/gmu)].map(
    ([, path = "", md5 = ""]) => ({ path, md5 }),
  );
}

function md5Of(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > MAX_FILE_BYTES) return null;
  const bytes = readIfThere(path);
  return bytes === null ? null : createHash("md5").update(bytes).digest("hex");
}

function copyTree(from: string, to: string): void {
  const stats = lstatSync(from, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSymbolicLink() && !isReadable(from)) return;
  if (stats.isDirectory()) {
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) copyTree(join(from, name), join(to, name));
  } else if (stats.isSymbolicLink()) {
    mkdirSync(dirname(to), { recursive: true });
    symlinkSync(readlinkSync(from), to);
  } else if (stats.isFile() && stats.size <= MAX_FILE_BYTES && !hasLogin(from)) {
    copyFile(from, to);
  }
}

/** What an ordinary user may not read is not for their sandboxes either. */
function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** A package source may carry a name and a password in its address. */
function hasLogin(path: string): boolean {
  return (
    path.includes("/apt/") && /:\/\/[^\s/]*@/u.test(readIfThere(path)?.toString("latin1") ?? "")
  );
}

function copyFile(from: string, to: string): void {
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  // Set-id bits and odd owners of the host's configuration mean nothing inside.
  chmodSync(to, lstatSync(from).mode & 0o755);
}

/** Files of /etc come and go while packages are installed. */
function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
