import * as z from "zod";
import type { SandboxStats } from "../../core/ports/sandbox.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import type { Ask } from "./walk-path.ts";

const Sized = z.looseObject({ SizeRw: z.number().optional() });

const V1_PEAK = "/sys/fs/cgroup/memory/memory.max_usage_in_bytes";
const V1_OOM = "/sys/fs/cgroup/memory/memory.oom_control";
const V1_CPU = ["/sys/fs/cgroup/cpuacct/cpuacct.usage", "/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage"];
const V2_PEAK = "/sys/fs/cgroup/memory.peak";
const V2_OOM = "/sys/fs/cgroup/memory.events";
const V2_CPU = "/sys/fs/cgroup/cpu.stat";
const FILES = [V1_PEAK, V1_OOM, ...V1_CPU, V2_PEAK, V2_OOM, V2_CPU];

/**
 * What the container has used, read from its own control group (both versions) by the supervisor;
 * files on disk by the daemon, which counts them. `null` where this kernel or daemon does not tell.
 */
export async function readStats(
  client: EngineClient,
  containerId: string,
  ask: Ask,
): Promise<SandboxStats> {
  const [lines, diskBytes] = await Promise.all([
    ask((sequence) => Buffer.from(`files ${sequence} ${FILES.join(" ")}\n`)),
    readDisk(client, containerId),
  ]);
  const cpuNanoseconds = V1_CPU.map((path) => numberIn(lines, path)).find((each) => each !== null);
  const cpuMicroseconds = numberIn(lines, V2_CPU, "usage_usec");
  const v1Seconds =
    cpuNanoseconds === undefined || cpuNanoseconds === null ? null : cpuNanoseconds / 1e9;
  return {
    peakMemoryBytes: numberIn(lines, V1_PEAK) ?? numberIn(lines, V2_PEAK),
    oomKills: numberIn(lines, V1_OOM, "oom_kill") ?? numberIn(lines, V2_OOM, "oom_kill"),
    cpuSeconds: cpuMicroseconds === null ? v1Seconds : cpuMicroseconds / 1e6,
    diskBytes,
  };
}

/** A number of a control file: the whole line, or behind a key. Answers are `PATH LINE`. */
function numberIn(lines: readonly string[], path: string, key?: string): number | null {
  const prefix = key === undefined ? `${path} ` : `${path} ${key} `;
  const line = lines.find((each) => each.startsWith(prefix));
  const value = line?.slice(prefix.length) ?? "";
  return /^\d+$/u.test(value) ? Number(value) : null;
}

async function readDisk(client: EngineClient, containerId: string): Promise<number | null> {
  try {
    const query = { size: true };
    const { SizeRw } = await client.json(Sized, "GET", `/containers/${containerId}/json`, {
      query,
    });
    return SizeRw ?? null;
  } catch (error) {
    throw asSandboxError(error, hasStatus(error, 404) ? "lost" : "backend-unavailable", "no size");
  }
}
