import { readFileSync, readlinkSync } from "node:fs";

/**
 * A process as no other process will ever be named again: `{boot id}/{pid namespace}/{pid}/{start
 * ticks}` (proc(5)). A bare pid is reused within minutes on a busy machine.
 */
export type ProcessIdentity = string;

const UNKNOWN = "unknown";

/** The identity of a process of this machine; parts that the platform does not tell are `unknown`. */
export function identifyProcess(pid: number = process.pid): ProcessIdentity {
  return [bootId(), pidNamespace(), String(pid), startTicks(pid) ?? UNKNOWN].join("/");
}

/**
 * Whether the process still runs. `unknown` when it lived under another boot of another machine, or
 * in a pid namespace that this process cannot see into: then only its lease's expiry says anything.
 */
export function processState(identity: ProcessIdentity): "alive" | "dead" | "unknown" {
  const [boot, namespace, pid, ticks] = identity.split("/");
  if (boot === undefined || namespace === undefined || pid === undefined || ticks === undefined)
    return "unknown";
  if ([boot, namespace, ticks].includes(UNKNOWN)) return "unknown";
  if (boot !== bootId() || namespace !== pidNamespace()) return "unknown";
  const now = startTicks(Number(pid));
  return now === ticks ? "alive" : "dead";
}

function bootId(): string {
  return readTrimmed("/proc/sys/kernel/random/boot_id") ?? UNKNOWN;
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replaceAll(/\D/gu, "");
  } catch {
    return UNKNOWN;
  }
}

/** Field 22 of /proc/{pid}/stat, counted from behind the name, which may hold blanks and brackets. */
function startTicks(pid: number): string | null {
  const stat = readTrimmed(`/proc/${String(pid)}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A zombie has ended: it holds no lease any more.
  if (fields[0] === "Z" || fields[0] === "X") return null;
  return fields[19] ?? null;
}

function readTrimmed(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}
