import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CgroupLayout } from "../../../sandboxes/local/cgroup/cgroup-layout.ts";
import { SandboxCgroup, cgroupFolders } from "../../../sandboxes/local/cgroup/sandbox-cgroup.ts";
import { tempFolder } from "../../setup/temp-folder.ts";

const LIMITS = { cpus: 1.5, memoryMb: 512, storageMb: 1, pids: 77 };

/** A folder in a cgroup file system's place: what is written is kept, what is read is put there. */
function unified(): { readonly layout: CgroupLayout; readonly dir: string } {
  const parent = tempFolder("cgroup");
  const at = { version: 2, dir: parent } as const;
  const layout = { tracking: at, limits: { memory: at, cpu: at, cpuacct: at, pids: at } };
  return { layout, dir: join(parent, "one") };
}

describe("the cgroups of a sandbox", () => {
  test("on v2 are one folder, with the limits in the unit that each file has", () => {
    const { layout, dir } = unified();
    expect(cgroupFolders(layout, "one")).toEqual([{ version: 2, dir }]);
    const cgroup = new SandboxCgroup(layout, "one");
    cgroup.make(LIMITS);
    const read = (name: string): string => readFileSync(join(dir, name), "utf8");
    expect(read("memory.max")).toBe("536870912");
    expect(read("memory.swap.max")).toBe("0");
    expect(read("cpu.max")).toBe("150000 100000");
    expect(read("pids.max")).toBe("77");
    expect(cgroup.joinFiles).toEqual([join(dir, "cgroup.procs")]);
  });

  test("on v2 tell what was used from the files of v2", () => {
    const { layout, dir } = unified();
    const cgroup = new SandboxCgroup(layout, "one");
    cgroup.make(LIMITS);
    expect(cgroup.stats()).toEqual({ peakMemoryBytes: null, oomKills: null, cpuSeconds: null });
    writeFileSync(join(dir, "memory.peak"), "123456\n");
    writeFileSync(
      join(dir, "memory.events"),
      "low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\noom_group_kill 0\n",
    );
    writeFileSync(join(dir, "cpu.stat"), "usage_usec 2500000\nuser_usec 1\n");
    expect(cgroup.stats()).toEqual({ peakMemoryBytes: 123_456, oomKills: 3, cpuSeconds: 2.5 });
  });

  test("give each command a group of its own, which it joins instead of the sandbox's", () => {
    const { layout, dir } = unified();
    const cgroup = new SandboxCgroup(layout, "one");
    cgroup.make(LIMITS);
    expect(cgroup.openCommand().joinFiles).toEqual([join(dir, "command-1", "cgroup.procs")]);
    expect(cgroup.openCommand().joinFiles).toEqual([join(dir, "command-2", "cgroup.procs")]);
  });

  test("know when there is no room for one more command", () => {
    const { layout, dir } = unified();
    const cgroup = new SandboxCgroup(layout, "one");
    cgroup.make({ ...LIMITS, pids: 10 });
    expect(cgroup.hasRoom()).toBe(true);
    writeFileSync(join(dir, "pids.current"), "9\n");
    expect(cgroup.hasRoom()).toBe(false);
    writeFileSync(join(dir, "pids.current"), "8\n");
    expect(cgroup.hasRoom()).toBe(true);
  });

  test("on a hybrid machine lie in several hierarchies, and all of them are named for removal", () => {
    const parent = tempFolder("cgroup");
    for (const name of ["unified", "memory", "cpu,cpuacct"]) mkdirSync(join(parent, name));
    const v1 = (name: string) => ({ version: 1, dir: join(parent, name) }) as const;
    const layout: CgroupLayout = {
      tracking: { version: 2, dir: join(parent, "unified") },
      limits: { memory: v1("memory"), cpu: v1("cpu,cpuacct"), cpuacct: v1("cpu,cpuacct") },
    };
    const cgroup = new SandboxCgroup(layout, "one");
    cgroup.make(LIMITS);
    expect(cgroupFolders(layout, "one").map(({ dir }) => dir.slice(parent.length + 1))).toEqual([
      "unified/one",
      "memory/one",
      "cpu,cpuacct/one",
    ]);
    expect(readFileSync(join(parent, "memory/one/memory.limit_in_bytes"), "utf8")).toBe(
      "536870912",
    );
    expect(readFileSync(join(parent, "cpu,cpuacct/one/cpu.cfs_quota_us"), "utf8")).toBe("150000");
    const { joinFiles } = cgroup.openCommand();
    expect(joinFiles.map((file) => file.slice(parent.length + 1))).toEqual([
      "memory/one/cgroup.procs",
      "cpu,cpuacct/one/cgroup.procs",
      "unified/one/command-1/cgroup.procs",
    ]);
  });
});
