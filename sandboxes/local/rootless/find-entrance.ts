import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { findTool, runTool } from "../../run-tool.ts";
import { grantCommand, hasSubordinateIds } from "./subordinate-ids.ts";

/** How an ordinary user's process becomes root of a user namespace that has their subordinate ids. */
export type Entrance =
  | {
      readonly kind: "open";
      /** Words to put before a program: it then runs as that root, and ends with whoever started it. */
      readonly words: readonly [string, ...string[]];
    }
  | {
      readonly kind: "closed";
      /** Completes "this is uid 1000, …". */
      readonly detail: string;
      /** One step to open it. */
      readonly next: string;
    };

/** What the search asks of the machine. */
export interface EntranceSources {
  readonly uid: number;
  readonly userName: string;
  /** Absolute path of a program of this machine, null when there is none. */
  readonly findTool: (name: string) => string | null;
  /** Text of a file, empty when it cannot be read. */
  readonly read: (path: string) => string;
  /** Tries the words with a mount behind them; the complaint, or null when it went. */
  readonly tryWords: (words: readonly [string, ...string[]]) => Promise<string | null>;
}

/** Kernel switches that close user namespaces, the value that does, and the command that opens them. */
const SWITCHES: readonly (readonly [name: string, closed: string, opener: string])[] = [
  ["kernel.unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"],
  ["user.max_user_namespaces", "0", "user.max_user_namespaces=10000"],
  [
    "kernel.apparmor_restrict_unprivileged_userns",
    "1",
    "kernel.apparmor_restrict_unprivileged_userns=0",
  ],
];

/** Finds the way in, or what closes it here and the step that opens it. Changes nothing. */
export async function findEntrance(sources: EntranceSources = systemSources()): Promise<Entrance> {
  const { uid, userName } = sources;
  const unshare = sources.findTool("unshare");
  const setpriv = sources.findTool("setpriv");
  if (unshare === null || setpriv === null)
    return closed("and there is no unshare", "`sudo apt-get install -y util-linux`");
  if (sources.findTool("newuidmap") === null || sources.findTool("newgidmap") === null)
    return closed(
      "and without newuidmap it can give the agent no uid of its own",
      "`sudo apt-get install -y uidmap`",
    );
  const files = { subuid: sources.read("/etc/subuid"), subgid: sources.read("/etc/subgid") };
  if (!hasSubordinateIds({ name: userName, uid }, files))
    return closed(
      "which has no 65536 subordinate uids and gids (/etc/subuid, /etc/subgid) to give the agent one of them",
      `\`${grantCommand(userName, files)}\``,
    );
  const words = [unshare, "--user", "--map-auto", "--map-root-user", "--"] as const;
  const complaint = await sources.tryWords(words);
  if (complaint === null)
    return { kind: "open", words: [...words, setpriv, "--pdeathsig", "KILL", "--"] };
  if (complaint.includes("map-auto"))
    return closed("and unshare cannot map its uids", "update util-linux to 2.38 or newer");
  const shut = SWITCHES.find(([name, value]) => readSwitch(sources, name) === value);
  if (shut !== undefined)
    return closed(
      `and user namespaces are closed to it (${shut[0]} is ${shut[1]})`,
      `\`sudo sysctl -w ${shut[2]}\``,
    );
  return closed(
    `and user namespaces are closed to it (${complaint})`,
    "see to it that `unshare --user --map-auto --map-root-user true` works",
  );
}

function closed(detail: string, next: string): Entrance {
  return { kind: "closed", detail, next };
}

function readSwitch({ read }: EntranceSources, name: string): string {
  return read(`/proc/sys/${name.replaceAll(".", "/")}`).trim();
}

function systemSources(): EntranceSources {
  return {
    uid: process.getuid?.() ?? -1,
    userName: nameOfUser(),
    findTool,
    read: (path) => {
      try {
        return readFileSync(path, "utf8");
      } catch {
        return "";
      }
    },
    tryWords: async (words) => {
      // First without a map: where the kernel says no, unshare (2.38) leaves the helper that would
      // have made the map behind, waiting.
      const plain = await runTool([words[0], "--user", "true"]);
      if (plain.exitCode !== 0) return firstLine(plain.stderr);
      // AppArmor lets the namespace be made and takes its powers: only a mount tells.
      const script = "mount -n -t tmpfs tmpfs /proc";
      const tried = await runTool([...words, "unshare", "--mount", "/bin/sh", "-c", script]);
      return tried.exitCode === 0 ? null : firstLine(tried.stderr);
    },
  };
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}

/** A uid that is in no passwd has no name, and then no ranges by it either. */
function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "");
  }
}
