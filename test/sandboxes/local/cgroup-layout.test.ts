import { describe, expect, test } from "vitest";
import {
  type CgroupSources,
  findCgroupLayout,
} from "../../../sandboxes/local/cgroup/cgroup-layout.ts";

function machine(parts: {
  readonly mounts: readonly string[];
  readonly self: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly writable?: (dir: string) => boolean;
  readonly enable?: CgroupSources["enable"];
}): CgroupSources {
  return {
    mountinfo: parts.mounts.join("\n"),
    selfCgroup: parts.self.join("\n"),
    read: (path) => parts.files?.[path] ?? null,
    canMake: parts.writable ?? (() => true),
    enable: parts.enable ?? (() => false),
  };
}

const V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
const v1 = (name: string, root = "/"): string =>
  `32 31 0:29 ${root} /sys/fs/cgroup/${name} rw,relatime - cgroup cgroup rw,${name}`;

describe("findCgroupLayout", () => {
  test("on the hybrid of both, limits are v1's and processes are tracked by v2's kill file", () => {
    const layout = findCgroupLayout(
      machine({
        mounts: [
          ...["cpu", "cpuacct", "memory", "freezer", "pids"].map((name) => v1(name)),
          "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
        ],
        self: ["8:pids:/", "6:freezer:/", "4:memory:/user/one", "2:cpuacct:/", "1:cpu:/", "0::/"],
        files: { "/proc/sys/kernel/osrelease": "6.1.0-18-amd64\n" },
      }),
    );
    expect(layout.tracking).toEqual({ version: 2, dir: "/sys/fs/cgroup/unified/" });
    expect(layout.limits.memory).toEqual({ version: 1, dir: "/sys/fs/cgroup/memory/user/one" });
    expect(layout.limits.pids).toEqual({ version: 1, dir: "/sys/fs/cgroup/pids/" });
  });

  test("before v2 had a kill file, v1's freezer tracks", () => {
    const layout = findCgroupLayout(
      machine({
        mounts: [v1("freezer"), "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"],
        self: ["6:freezer:/", "0::/"],
        files: { "/proc/sys/kernel/osrelease": "5.10.0-28-amd64\n" },
      }),
    );
    expect(layout.tracking).toEqual({ version: 1, dir: "/sys/fs/cgroup/freezer/" });
  });

  test("two controllers of one v1 mount are found by either name", () => {
    const layout = findCgroupLayout(
      machine({
        mounts: ["33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct"],
        self: ["3:cpu,cpuacct:/slice"],
      }),
    );
    expect(layout.limits.cpu?.dir).toBe("/sys/fs/cgroup/cpu,cpuacct/slice");
    expect(layout.limits.cpuacct?.dir).toBe("/sys/fs/cgroup/cpu,cpuacct/slice");
  });

  test("on v2 the nearest group that hands all controllers down is the parent", () => {
    const layout = findCgroupLayout(
      machine({
        mounts: [V2],
        self: ["0::/user.slice/user-0.slice/session-1.scope"],
        files: {
          "/sys/fs/cgroup/user.slice/cgroup.subtree_control": "cpu io memory pids\n",
          "/sys/fs/cgroup/user.slice/user-0.slice/cgroup.subtree_control": "memory pids\n",
          "/sys/fs/cgroup/user.slice/cgroup.kill": "",
        },
      }),
    );
    expect(layout.tracking).toEqual({ version: 2, dir: "/sys/fs/cgroup/user.slice" });
    expect(Object.keys(layout.limits).toSorted()).toEqual(["cpu", "cpuacct", "memory", "pids"]);
  });

  test("on v2 controllers are switched on where no group hands them down", () => {
    const switched: string[] = [];
    const files: Record<string, string> = {
      "/sys/fs/cgroup/cgroup.controllers": "cpu memory pids\n",
      "/sys/fs/cgroup/cgroup.subtree_control": "",
    };
    const layout = findCgroupLayout(
      machine({
        mounts: [V2],
        self: ["0::/"],
        files,
        enable: (dir, names) => {
          switched.push(`${dir} ${names.join(" ")}`);
          files[`${dir}/cgroup.subtree_control`.replace("//", "/")] = names.join(" ");
          return true;
        },
      }),
    );
    expect(switched).toEqual(["/sys/fs/cgroup/ memory pids cpu"]);
    expect(layout.limits.memory).toEqual({ version: 2, dir: "/sys/fs/cgroup/" });
  });

  test("in a v2 group that has processes there are no limits, and processes are still tracked", () => {
    const layout = findCgroupLayout(machine({ mounts: [V2], self: ["0::/"] }));
    expect(layout).toEqual({ tracking: { version: 2, dir: "/sys/fs/cgroup/" }, limits: {} });
  });

  test("in a container whose mount shows a part of the hierarchy, paths are that part's", () => {
    const layout = findCgroupLayout(
      machine({ mounts: [v1("pids", "/docker/abc")], self: ["8:pids:/docker/abc/inner"] }),
    );
    expect(layout.limits.pids?.dir).toBe("/sys/fs/cgroup/pids/inner");
  });

  test("a cgroup file system that cannot be written to does not count", () => {
    const layout = findCgroupLayout(
      machine({ mounts: [V2, v1("pids")], self: ["8:pids:/", "0::/"], writable: () => false }),
    );
    expect(layout).toEqual({ tracking: null, limits: {} });
  });
});
