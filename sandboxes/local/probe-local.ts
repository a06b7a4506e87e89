import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CgroupLayout, findCgroupLayout } from "./cgroup/cgroup-layout.ts";
import { BOUNDING_SET, NAMESPACES } from "./command/enter-sandbox.ts";
import { makeDisk } from "./disk-image.ts";
import { findPowers } from "./powers.ts";
import { TOOL_PATH, runTool } from "./run-tool.ts";
import { launcherWords } from "./seccomp/launcher-words.ts";
import { removeTree, type StateFolder } from "./state-folder.ts";

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

const TOOLS: Readonly<Record<string, string>> = {
  unshare: "util-linux",
  nsenter: "util-linux",
  setpriv: "util-linux",
  mount: "mount",
  umount: "mount",
  pivot_root: "util-linux",
  flock: "util-linux",
  chroot: "coreutils",
  mkfifo: "coreutils",
  cp: "coreutils",
  rm: "coreutils",
  sleep: "coreutils",
};

/** Mounts what a sandbox mounts, in namespaces that vanish with the script, and says what went. */
const TRIAL_SCRIPT = `cd "$1"; echo namespaces
mount -n -t tmpfs tmpfs ns && cd ns && mkdir -p disk a/up a/work box || exit 0
mount -n -t overlay -o "$2nosuid,nodev,lowerdir=/usr,upperdir=a/up,workdir=a/work" overlay box && echo overlay
mount -n -t ext4 -o loop,noinit_itable,nobarrier,nosuid,nodev,noatime ../disk.img disk && echo loop`;

/** Looks at the machine, tries each wall once in namespaces of its own, and leaves nothing behind. */
export async function probeLocal(state: StateFolder | null): Promise<LocalProbe> {
  const checks: LocalCheck[] = [checkPlatform(), checkRoot()];
  const none: CgroupLayout = { tracking: null, limits: {} };
  if (checks.some(({ holds }) => !holds) || state === null)
    return { checks, cgroups: none, hasDiskLimit: false, hasSeccomp: false };
  checks.push(checkTools(), await checkReaper());
  const cgroups = readCgroupLayout();
  const trial = await tryMounts(state);
  const hasSeccomp = await trySeccomp();
  const limits = Object.keys(cgroups.limits);
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
  need(
    "process groups",
    cgroups.tracking !== null,
    cgroups.tracking?.dir ?? "no cgroup can be made",
  );
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
      `give \`bench\` a cgroup with the ${controller} controller, or use \`--env docker\``,
    );
  want(
    "disk limit",
    trial.words.includes("loop"),
    "install e2fsprogs and allow loop devices, or use `--env docker`",
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

function checkRoot(): LocalCheck {
  const uid = process.getuid?.() ?? -1;
  return {
    name: "root",
    holds: uid === 0,
    isNeeded: true,
    // docs/decisions/2026-11-30-local-root-only.md has the measurements.
    detail: `this is uid ${String(uid)}, and without root agent and verifier cannot be held apart, nor limits kept`,
    next: "run as root, or use `--env docker`",
  };
}

function checkTools(): LocalCheck {
  const missing = Object.keys(TOOLS).filter((name) => !isOnPath(name));
  // The loopback is brought up by one of these two.
  if (!isOnPath("ip") && !isOnPath("perl")) missing.push("ip");
  const packages = [...new Set(missing.map((name) => TOOLS[name] ?? "iproute2"))];
  return {
    name: "programs",
    holds: missing.length === 0,
    isNeeded: true,
    detail: `missing: ${missing.join(" ")}`,
    next: `run \`apt-get install -y ${packages.join(" ")}\``,
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

function isOnPath(name: string): boolean {
  return TOOL_PATH.split(":").some((dir) => {
    try {
      accessSync(join(dir, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
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
    await removeTree(dir);
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
