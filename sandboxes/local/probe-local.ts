import { mkdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CgroupLayout, findCgroupLayout } from "./cgroup/cgroup-layout.ts";
import { BOUNDING_SET, NAMESPACES } from "./command/enter-sandbox.ts";
import { makeDisk } from "./disk-image.ts";
import { findPowers } from "./powers.ts";
import { hasReaper } from "./rootless/reaper-words.ts";
import { findEntrance } from "./rootless/find-entrance.ts";
import { findTool, runTool } from "../run-tool.ts";
import { launcherWords } from "./seccomp/launcher-words.ts";
import type { StateFolder } from "./state-folder.ts";

/** One thing that local sandboxes need or can use, and whether this machine has it. */
export interface LocalCheck {
  readonly name: string;
  readonly holds: boolean;
  /** Without it there are no local sandboxes; else only the walls or limits named are missing. */
  readonly isNeeded: boolean;
  readonly detail: string;
  /** What to do about it, when it does not hold. */
  readonly next: string;
}

/** What works here: for `doctor`, for the capabilities of the backend, and for a clear refusal. */
export interface LocalProbe {
  readonly checks: readonly LocalCheck[];
  readonly cgroups: CgroupLayout;
  readonly hasDiskLimit: boolean;
  readonly hasSeccomp: boolean;
}

const DOCKER_NEXT = "use `--env docker`";

/** Gives a command a cgroup of its user's own, with controllers, where systemd runs. */
const DELEGATION = "systemd-run --user --scope -p Delegate=yes";

const TOOLS: Readonly<Record<string, string>> = {
  unshare: "util-linux",
  nsenter: "util-linux",
  setpriv: "util-linux",
  mount: "mount",
  umount: "mount",
  pivot_root: "util-linux",
  flock: "util-linux",
  prlimit: "util-linux",
  chroot: "coreutils",
  mkfifo: "coreutils",
  cp: "coreutils",
  rm: "coreutils",
  sleep: "coreutils",
};

/** Packages of programs that only some machines need. */
const OTHER_PACKAGES: Readonly<Record<string, string>> = { ip: "iproute2", hostname: "hostname" };

/** Mounts what a sandbox mounts, in namespaces that vanish with the script, and says what went. */
const TRIAL_SCRIPT = `cd "$1"
# In a container that masks parts of /proc a user namespace may not mount one of its own.
[ -z "$2" ] || { mount -n -t proc proc ns && umount -n ns; } || exit 0
echo namespaces
mount -n -t tmpfs tmpfs ns && cd ns && mkdir -p disk a/up a/work box || exit 0
mount -n -t overlay -o "$2nosuid,nodev,lowerdir=/usr,upperdir=a/up,workdir=a/work" overlay box && echo overlay
mount -n -t ext4 -o loop,noinit_itable,nobarrier,nosuid,nodev,noatime ../disk.img disk && echo loop`;

/** Looks at the machine, tries each wall once in namespaces of its own, and leaves nothing behind. */
export async function probeLocal(state: StateFolder | null): Promise<LocalProbe> {
  const checks: LocalCheck[] = [checkPlatform(), await checkRoot()];
  const none: CgroupLayout = { tracking: null, limits: {} };
  if (checks.some(({ holds }) => !holds) || state === null)
    return { checks, cgroups: none, hasDiskLimit: false, hasSeccomp: false };
  const [reaper, trial, hasSeccomp] = await Promise.all([
    checkReaper(),
    tryMounts(state),
    trySeccomp(),
  ]);
  checks.push(checkTools(), reaper);
  const cgroups = readCgroupLayout();
  const limits = Object.keys(cgroups.limits);
  const { scope } = findPowers();
  const need = (name: string, holds: boolean, detail: string, next = DOCKER_NEXT): void => {
    checks.push({ name, holds, isNeeded: true, detail, next });
  };
  need(
    "namespaces",
    trial.words.includes("namespaces"),
    trial.complaint,
    "run outside an unprivileged container, or use `--env docker`",
  );
  need("overlay file system", trial.words.includes("overlay"), trial.complaint);
  const groups = checkGroups(cgroups, hasSeccomp);
  need("process groups", groups.holds, groups.detail, groups.next);
  const want = (name: string, holds: boolean, next: string): void => {
    checks.push({ name, holds, isNeeded: false, detail: holds ? "" : "missing", next });
  };
  for (const [name, controller] of [
    ["memory limit", "memory"],
    ["processor limit", "cpu"],
    ["process limit", "pids"],
  ] as const)
    want(
      name,
      limits.includes(controller),
      scope === "machine"
        ? `give \`bench\` a cgroup with the ${controller} controller, or use \`--env docker\``
        : `run it behind \`${DELEGATION}\`, or use \`--env docker\``,
    );
  want(
    "disk limit",
    trial.words.includes("loop"),
    scope === "machine"
      ? "install e2fsprogs and allow loop devices, or use `--env docker`"
      : "run as root, or use `--env docker`",
  );
  want("system call filter", hasSeccomp, "install perl-base");
  return { checks, cgroups, hasDiskLimit: trial.words.includes("loop"), hasSeccomp };
}

/** The check that keeps local sandboxes from working here; null when they work. */
export function refusalOf(probe: LocalProbe): LocalCheck | null {
  return probe.checks.find(({ isNeeded, holds }) => isNeeded && !holds) ?? null;
}

function checkPlatform(): LocalCheck {
  return {
    name: "Linux",
    holds: process.platform === "linux",
    isNeeded: true,
    detail: `this is ${process.platform}, and local sandboxes are Linux namespaces`,
    next: DOCKER_NEXT,
  };
}

/** Root of the machine, or of a user namespace with subordinate ids: agent and verifier need uids of their own. */
async function checkRoot(): Promise<LocalCheck> {
  const uid = process.getuid?.() ?? -1;
  const check = { name: "root", holds: uid === 0, isNeeded: true };
  if (check.holds || process.platform !== "linux")
    return { ...check, detail: "", next: DOCKER_NEXT };
  const entrance = await findEntrance();
  const who = `this is uid ${String(uid)}, `;
  if (entrance.kind === "closed")
    return {
      ...check,
      detail: who + entrance.detail,
      next: `${entrance.next}, or run as root, or use \`--env docker\``,
    };
  return {
    ...check,
    detail: `${who}outside of its user namespace, which \`bench\` enters by itself and a program of yours does not`,
    next: "start the program behind `unshare --user --map-auto --map-root-user`",
  };
}

function checkTools(): LocalCheck {
  const missing = Object.keys(TOOLS).filter((name) => findTool(name) === null);
  // The loopback is brought up by one of these two.
  if (findTool("ip") === null && findTool("perl") === null) missing.push("ip");
  // In a user namespace the name of a sandbox is set by a call.
  if (findPowers().scope === "namespace" && findTool("hostname") === null) missing.push("hostname");
  const packages = [...new Set(missing.map((name) => TOOLS[name] ?? OTHER_PACKAGES[name] ?? name))];
  return {
    name: "programs",
    holds: missing.length === 0,
    isNeeded: true,
    detail: `missing: ${missing.join(" ")}`,
    next: `run \`apt-get install -y ${packages.join(" ")}\``,
  };
}

/**
 * Cgroups hold a sandbox's processes together. In a user namespace, where systemd may have given this
 * user none, the pid namespace does, as long as nobody inside can make one of their own.
 */
function checkGroups(
  { tracking }: CgroupLayout,
  hasSeccomp: boolean,
): Pick<LocalCheck, "holds" | "detail" | "next"> {
  if (tracking !== null) return { holds: true, detail: tracking.dir, next: DOCKER_NEXT };
  if (findPowers().scope === "machine")
    return { holds: false, detail: "no cgroup can be made", next: DOCKER_NEXT };
  return {
    holds: hasSeccomp && hasReaper(),
    detail: hasSeccomp ? "pid namespace" : "no cgroup can be made, nor a system call filter loaded",
    next: `run it behind \`${DELEGATION}\`, or install perl-base`,
  };
}

/** A sandbox's first process reaps orphans by ignoring SIGCHLD, which coreutils' env arranges. */
async function checkReaper(): Promise<LocalCheck> {
  return {
    name: "coreutils 8.31",
    holds: (await runTool(["env", "--ignore-signal=CHLD", "true"])).exitCode === 0,
    isNeeded: true,
    detail: "env has no --ignore-signal",
    next: "update coreutils to 8.31 or newer, or use `--env docker`",
  };
}

async function tryMounts(
  state: StateFolder,
): Promise<{ readonly words: string[]; readonly complaint: string }> {
  const dir = state.stage();
  try {
    mkdirSync(join(dir, "ns"));
    const made = await makeDisk(join(dir, "disk.img"), 16);
    const result = await runTool([
      "unshare",
      ...NAMESPACES,
      "--fork",
      "--kill-child=KILL",
      "/bin/sh",
      "-c",
      TRIAL_SCRIPT,
      "bench-probe",
      dir,
      findPowers().overlayOptions,
    ]);
    const words = result.stdout.split("\n").filter((word) => made || word !== "loop");
    return { words, complaint: result.stderr.trim().split("\n")[0] ?? "" };
  } finally {
    // Ours alone and flat: its mounts went with the namespace.
    rmSync(dir, { recursive: true });
  }
}

async function trySeccomp(): Promise<boolean> {
  const launcher = launcherWords(true);
  if (launcher.length === 0) return false;
  const program = ["setpriv", `--bounding-set=${BOUNDING_SET}`, "true"];
  return (await runTool(["env", ...launcher, ...program])).exitCode === 0;
}

function readCgroupLayout(): CgroupLayout {
  return findCgroupLayout({
    mountinfo: readFileSync("/proc/self/mountinfo", "utf8"),
    selfCgroup: readFileSync("/proc/self/cgroup", "utf8"),
    read: (path) => {
      try {
        return readFileSync(path, "utf8");
      } catch {
        return null;
      }
    },
    canMake: (dir) => {
      const probe = join(dir, `bench-probe-${String(process.pid)}`);
      try {
        mkdirSync(probe);
        rmdirSync(probe);
        return true;
      } catch {
        return false;
      }
    },
    enable: (dir, controllers) => {
      try {
        writeFileSync(
          join(dir, "cgroup.subtree_control"),
          controllers.map((name) => `+${name}`).join(" "),
        );
        return true;
      } catch {
        return false;
      }
    },
  });
}
