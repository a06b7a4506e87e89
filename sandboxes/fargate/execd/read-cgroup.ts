import { readFileSync } from "node:fs";
import type { SandboxStats } from "../../../core/ports/sandbox.ts";

const ROOT = "/sys/fs/cgroup";

/** What this container has used, from its own cgroup (version 2 or 1); null where the kernel does not say. */
export function readCgroup(): SandboxStats {
  const events = read("memory.events") ?? read("memory/memory.oom_control");
  const nanoseconds = number(read("cpuacct/cpuacct.usage"));
  const microseconds = field(read("cpu.stat"), "usage_usec");
  return {
    peakMemoryBytes: number(read("memory.peak") ?? read("memory/memory.max_usage_in_bytes")),
    oomKills: field(events, "oom_kill"),
    cpuSeconds:
      microseconds === null
        ? nanoseconds === null
          ? null
          : nanoseconds / 1e9
        : microseconds / 1e6,
    diskBytes: null,
  };
}

function read(file: string): string | null {
  try {
    return readFileSync(`${ROOT}/${file}`, "utf8");
  } catch {
    // The other version of the interface, or one that this kernel lacks.
    return null;
  }
}

function field(text: string | null, name: string): number | null {
  const line = new RegExp(`^${name} (\\d+)$`, "mu").exec(text ?? "");
  return line === null ? null : Number(line[1]);
}

function number(text: string | null): number | null {
  const value = Number(text?.trim());
  return text === null || !Number.isSafeInteger(value) ? null : value;
}
