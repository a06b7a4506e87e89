import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A user of this machine that is nobody special, made by a test that runs as root. */
export interface OrdinaryUser {
  readonly name: string;
  readonly uid: number;
  /** Its home, with an empty `tmp` in it. */
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /**
   * Words to put before a program that is to run as the user; `cgroups` puts it into groups that were
   * given to the user, as systemd's delegation does.
   */
  behind(options: { readonly cgroups: boolean }): [string, ...string[]];
  /** Ends what still runs as the user, and removes all of it. */
  remove(): void;
}

const PREFIX = "bench-test-";
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const JOIN = 'for file; do shift; [ "$file" = -- ] && break; echo 0 > "$file"; done; exec "$@"';

let made = 0;

/** Makes the user; with 65536 subordinate ids, unless `subordinateIds` says no. */
export function makeOrdinaryUser(
  options: { readonly subordinateIds: boolean } = { subordinateIds: true },
): OrdinaryUser {
  needUidmap();
  removeStaleUsers();
  made += 1;
  const name = `${PREFIX}${String(process.pid)}-${String(made)}`;
  const folder = mkdtempSync(join(tmpdir(), "bench-user-"));
  chmodSync(folder, 0o755);
  const home = join(folder, "home");
  execFileSync("useradd", ["--create-home", "--home-dir", home, "--shell", "/bin/sh", name]);
  for (const kind of ["uid", "gid"]) {
    const args = options.subordinateIds ? missingRange(name, kind) : givenRange(name, kind);
    if (args !== null) execFileSync("usermod", [...args, name]);
  }
  const uid = Number(execFileSync("id", ["-u", name], { encoding: "utf8" }));
  const gid = Number(execFileSync("id", ["-g", name], { encoding: "utf8" }));
  const tmp = join(home, "tmp");
  mkdirSync(tmp);
  chownSync(tmp, uid, gid);
  const groups = makeGroups(name, uid);
  return {
    name,
    uid,
    home,
    env: { HOME: home, TMPDIR: tmp, USER: name, LOGNAME: name, PATH, LANG: "C.UTF-8" },
    behind: ({ cgroups }) => {
      const files = cgroups ? groups.map((dir) => join(dir, "cgroup.procs")) : [];
      const drop = ["setpriv", `--reuid=${name}`, `--regid=${name}`, "--init-groups", "--"];
      return ["/bin/sh", "-c", JOIN, "bench-test-user", ...files, "--", ...drop];
    },
    remove: () => {
      spawnSync("userdel", ["--force", name]);
      for (const dir of groups) removeGroups(dir);
      // Tens of thousands of folders: Node takes three times as long.
      execFileSync("rm", ["-rf", "--", folder]);
    },
  };
}

/** `npm test` brings it before the first test: a package that comes in mid-job changes what sandboxes see. */
function needUidmap(): void {
  if (existsSync("/usr/bin/newuidmap")) return;
  throw new Error("tests need newuidmap\n  next: bash test/setup/machine.sh");
}

/** Of tests that were killed. */
function removeStaleUsers(): void {
  const names = readFileSync("/etc/passwd", "utf8").matchAll(/^(bench-test-(\d+)-\d+):/gmu);
  for (const [, name = "", pid = ""] of names)
    if (!existsSync(`/proc/${pid}`)) spawnSync("userdel", ["--force", name]);
}

/** useradd gives ranges on some distributions, and on others only when it is told to. */
function missingRange(name: string, kind: string): string[] | null {
  const text = readFileSync(`/etc/sub${kind}`, "utf8");
  if (text.includes(`${name}:`)) return null;
  const ends = [...text.matchAll(/^[^:]+:(\d+):(\d+)$/gmu)].map(
    ([, start, count]) => Number(start) + Number(count),
  );
  const start = Math.max(100_000, ...ends);
  return [`--add-sub${kind}s`, `${String(start)}-${String(start + 65_535)}`];
}

function givenRange(name: string, kind: string): string[] | null {
  const text = readFileSync(`/etc/sub${kind}`, "utf8");
  const [, start, count] = new RegExp(`^${name}:(\\d+):(\\d+)$`, "mu").exec(text) ?? [];
  if (start === undefined) return null;
  return [`--del-sub${kind}s`, `${start}-${String(Number(start) + Number(count) - 1)}`];
}

/** A group of the user's own in each hierarchy, below this process's. */
function makeGroups(name: string, uid: number): string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").matchAll(
    /^\S+ \S+ \S+ \/ (\/sys\/fs\/cgroup\S*) .* - (cgroup2?) \S+ (\S+)$/gmu,
  );
  const own = readFileSync("/proc/self/cgroup", "utf8").split("\n");
  const groups: string[] = [];
  for (const [, mount = "", type, options = ""] of mounts) {
    const controllers = type === "cgroup2" ? [""] : options.split(",");
    const path = own
      .map((line) => /^\d+:([^:]*):(.*)$/u.exec(line))
      .find((found) => found?.[1]?.split(",").some((each) => controllers.includes(each)))?.[2];
    if (path === undefined || controllers.some((each) => /cpuset|devices|name=/u.test(each)))
      continue;
    const dir = join(mount, path, name);
    mkdirSync(dir);
    chownSync(dir, uid, -1);
    for (const file of ["cgroup.procs", "tasks", "cgroup.subtree_control", "cgroup.threads"])
      if (existsSync(join(dir, file))) chownSync(join(dir, file), uid, -1);
    groups.push(dir);
  }
  return groups;
}

function removeGroups(dir: string): void {
  for (const entry of readdirSync(dir, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroups(join(dir, entry.name));
  rmdirSync(dir);
}

/** Writes a file that the user may read and run, out of this checkout, which may be out of its reach. */
export function giveFile(user: OrdinaryUser, name: string, text: string): string {
  const path = join(user.home, name);
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}
