import { expect, test } from "vitest";
import type { EngineClient } from "../../../sandboxes/docker/engine-client.ts";
import { readStats } from "../../../sandboxes/docker/read-stats.ts";

/** The stats of a container of which the supervisor prints these lines and the daemon says this. */
async function statsOf(lines: readonly string[], inspected: { readonly SizeRw?: number }) {
  const client = { json: async () => await Promise.resolve(inspected) };
  return await readStats(client as unknown as EngineClient, "c", async () => {
    return await Promise.resolve(lines);
  });
}

test("what neither the kernel nor the daemon tells is unknown, and not nothing", async () => {
  expect(await statsOf([""], {})).toEqual({
    peakMemoryBytes: null,
    oomKills: null,
    cpuSeconds: null,
    diskBytes: null,
  });
});

test("what they tell is given, nothing as nothing", async () => {
  const told = [
    "/sys/fs/cgroup/memory.peak 4096",
    "/sys/fs/cgroup/memory.events oom_kill 0",
    "/sys/fs/cgroup/cpu.stat usage_usec 1500000",
  ];
  expect(await statsOf(told, { SizeRw: 0 })).toEqual({
    peakMemoryBytes: 4096,
    oomKills: 0,
    cpuSeconds: 1.5,
    diskBytes: 0,
  });
});
