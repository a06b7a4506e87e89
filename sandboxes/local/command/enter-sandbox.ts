import { type Command, SandboxError } from "../../../core/ports/sandbox.ts";
import { BOX } from "../boot-tables.ts";
import { TOOL_ENV } from "../../run-tool.ts";
import type { CommandGroup } from "../sandbox-group.ts";
import { admitWords } from "./admit-words.ts";
import { launcherWords } from "../seccomp/launcher-words.ts";

/** Docker's default capabilities less MKNOD and NET_RAW (attack 19): what root inside may hold. */
const CAPABILITIES: Readonly<Record<string, number>> = {
  chown: 0,
  dac_override: 1,
  fowner: 3,
  fsetid: 4,
  kill: 5,
  setgid: 6,
  setuid: 7,
  setpcap: 8,
  net_bind_service: 10,
  sys_chroot: 18,
  audit_write: 29,
  setfcap: 31,
};

export const BOUNDING_SET = ["-all", ...Object.keys(CAPABILITIES).map((name) => `+${name}`)].join(
  ",",
);

/** The namespaces that a sandbox has of its own, as unshare and nsenter name them. */
export const NAMESPACES = ["--mount", "--pid", "--ipc", "--uts", "--net", "--cgroup"] as const;

/** Joins the groups whose files are given (their number first), then becomes the program that follows. */
export const JOIN_SCRIPT = `set -e
ulimit -c 0
umask 022
count=$1; shift
while [ "$count" -gt 0 ]; do echo 0 > "$1"; shift; count=$((count - 1)); done
exec "$@"`;

/** How a command gets into a sandbox: what to spawn, and with which environment. */
export interface Entrance {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

export interface EntranceTarget {
  /** Pid, on the host, of the sandbox's first process. */
  readonly supervisorPid: number;
  readonly group: Pick<CommandGroup, "joinFiles" | "entering">;
  readonly seccomp: boolean;
}

/**
 * The way in: join the cgroups, enter the namespaces, load the system call filter, drop the
 * capabilities, only then chroot, drop the uid and run the first byte that the sandbox could have
 * written. Every program before that is the host's own, mounted read-only in the namespace: a root
 * inside that replaces /usr/bin/setpriv would otherwise run it with all of the host's power.
 */
export function entranceOf(command: Command, target: EntranceTarget): Entrance {
  const { joinFiles, entering } = target.group;
  const inside = insideOf(command, target.seccomp);
  return {
    argv: [
      "/bin/sh",
      "-c",
      JOIN_SCRIPT,
      "bench-command",
      String(joinFiles.length),
      ...joinFiles,
      ...entering.before,
      "nsenter",
      "--target",
      String(target.supervisorPid),
      ...NAMESPACES,
      ...entering.options,
      "--",
      ...entering.words,
      ...inside.argv,
    ],
    env: inside.env,
  };
}

/** The part of it behind the namespaces. */
export function insideOf(command: Command, seccomp: boolean): Entrance {
  const { names, values, prefix } = splitEnvironment(command.env);
  const capabilities = Object.values(CAPABILITIES);
  const argv = seccomp
    ? admitWords({ ...command, capabilities, root: `/${BOX}`, names, prefix })
    : plainWords(command, names, prefix);
  return { argv, env: { ...TOOL_ENV, ...values } };
}

/** The same by util-linux and coreutils alone, on a machine that cannot load a filter. */
function plainWords(
  command: Command,
  names: readonly string[],
  prefix: string,
): [string, ...string[]] {
  const id = `+${String(command.uid)}:+${String(command.uid)}`;
  const [program = "", ...rest] = [
    ...launcherWords(false),
    "setpriv",
    ...(command.uid === 0 ? [] : ["--no-new-privs"]),
    "--inh-caps=-all",
    `--bounding-set=${BOUNDING_SET}`,
    "chroot",
    `--userspec=${id}`,
    "--groups=",
    `/${BOX}`,
    "/bin/sh",
    "-c",
    startScript(names, prefix),
    "sh",
    command.cwd,
    ...command.argv,
  ];
  return [program, ...rest];
}

/**
 * The environment travels under harmless names, because until the capabilities are dropped it is the
 * environment of the host's programs too, and LD_PRELOAD would be an order to them. Values never
 * stand in a command line, where everyone in the sandbox could read them.
 */
function splitEnvironment(env: Command["env"]): {
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  readonly prefix: string;
} {
  const names = Object.keys(env);
  for (const name of names)
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name))
      throw new SandboxError(
        "unsupported",
        `environment variable ${JSON.stringify(name)} has a name that a shell cannot set`,
      );
  let prefix = "BENCH_VALUE_";
  while (names.some((name) => name.startsWith(prefix))) prefix += "_";
  const values = Object.fromEntries(
    names.map((name, index) => [`${prefix}${String(index)}`, env[name] ?? ""]),
  );
  return { names, values, prefix };
}

/**
 * Runs inside, with the command's own rights: folder, environment, then the command. Descriptor 3
 * tells the host side how far it came: `cwd` for a missing folder, `go` when all went well.
 */
function startScript(names: readonly string[], prefix: string): string {
  const carriers = names.map((_, index) => `${prefix}${String(index)}`);
  const exports = names.map((name, index) => `export ${name}="$${prefix}${String(index)}"`);
  return [
    'cd -P -- "$1" 2>/dev/null || { echo cwd >&3; exit 127; }',
    "shift",
    "unset PWD OLDPWD",
    ...Object.keys(TOOL_ENV).map((name) => `unset ${name}`),
    ...exports,
    ...(carriers.length === 0 ? [] : [`unset ${carriers.join(" ")}`]),
    "echo go >&3",
    "exec 3>&-",
    'exec "$@"',
  ].join("\n");
}
