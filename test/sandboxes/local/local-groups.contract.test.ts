import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { CgroupVersion } from "../../../sandboxes/local/cgroup/cgroup-layout.ts";
import { TrackedGroup } from "../../../sandboxes/local/cgroup/tracked-group.ts";
import { isLeaderless, LEADERLESS } from "../leaderless-program.ts";

interface Hierarchy {
  readonly name: string;
  readonly version: CgroupVersion;
  readonly dir: string;
}

/** The cgroup file systems of this machine that can track processes: both on a hybrid one. */
function hierarchies(): Hierarchy[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .flatMap((line): Hierarchy[] => {
      const [head = "", tail = ""] = line.split(" - ");
      const dir = head.split(" ")[4] ?? "";
      if (tail.startsWith("cgroup2 ")) return [{ name: "cgroup v2", version: 2, dir }];
      const isFreezer = tail.startsWith("cgroup ") && tail.split(/[ ,]/u).includes("freezer");
      return isFreezer ? [{ name: "the v1 freezer", version: 1, dir }] : [];
    });
}

function start(group: TrackedGroup, script: string): void {
  const child = spawn("/bin/sh", ["-c", `echo 0 > "$0"; ${script}`, group.joinFile], {
    stdio: "ignore",
    detached: true,
  });
  child.unref();
}

function argumentsOf(pid: number): string {
  return readFileSync(`/proc/${String(pid)}/cmdline`, "latin1").replaceAll("\0", " ");
}

async function untilCount(group: TrackedGroup, count: number): Promise<void> {
  for (let tries = 0; group.processes().length < count && tries < 200; tries += 1) await delay(20);
  expect(group.processes().length).toBeGreaterThanOrEqual(count);
}

test("this machine has a hierarchy to test", () => {
  expect(hierarchies().length).toBeGreaterThan(0);
});

describe.each(hierarchies())("a group of $name", ({ version, dir }) => {
  const open = (name: string): TrackedGroup => {
    const group = new TrackedGroup(version, join(dir, `bench-test-${String(process.pid)}-${name}`));
    group.make();
    return group;
  };

  test("kills what the caller picks, and no one else", async () => {
    const group = open("pick");
    start(group, "setsid sleep 1001 & exec sleep 1002");
    await untilCount(group, 2);
    expect(await group.kill(({ pid }) => argumentsOf(pid).includes("1001"))).toBe(0);
    expect(group.processes().map(({ pid }) => argumentsOf(pid))).toEqual(["sleep 1002 "]);
    expect(await group.end()).toBe(0);
    expect(existsSync(group.dir)).toBe(false);
  });

  test("finds and kills a process whose first thread has ended, which looks like a zombie", async () => {
    const group = open("leaderless");
    start(group, `exec perl -e '${LEADERLESS}'`);
    await untilCount(group, 1);
    const pid = group.processes()[0]?.pid ?? 0;
    const status = (): string => readFileSync(`/proc/${String(pid)}/status`, "latin1");
    await expect.poll(() => isLeaderless(status())).toBe(true);
    expect(group.processes().map((sight) => sight.pid)).toEqual([pid]);
    expect(await group.kill((sight) => sight.pid === pid)).toBe(0);
    expect(existsSync(`/proc/${String(pid)}/task`) && isLeaderless(status())).toBe(false);
    expect(await group.end()).toBe(0);
  });

  test("kills a fork bomb, and groups inside it, to the last process", async () => {
    const group = open("bomb");
    // Bounded by rlimit, not by a cgroup: the bomb must not take this machine down if the kill fails.
    const inner = group.child("command-1");
    inner.make();
    start(
      inner,
      "exec setpriv --reuid=54321 --clear-groups prlimit --nproc=120 perl -e 'fork while 1'",
    );
    start(group, "exec sleep 1003");
    await untilCount(group, 60);
    expect(await inner.killAll()).toBe(0);
    expect(inner.processes()).toEqual([]);
    expect(group.processes()).toHaveLength(1);
    expect(await group.end()).toBe(0);
    const left = readdirSync(dir).filter((name) =>
      name.includes(`bench-test-${String(process.pid)}-bomb`),
    );
    expect(left).toEqual([]);
  });

  test("is removed when empty, and is not while a process is in it", async () => {
    const group = open("empty");
    const inner = group.child("command-1");
    inner.make();
    start(inner, "exec sleep 1004");
    await untilCount(inner, 1);
    inner.removeIfEmpty();
    expect(existsSync(inner.dir)).toBe(true);
    await inner.killAll();
    // The kernel lets a killed process out of its group when it has ended, which takes it a moment.
    for (let tries = 0; existsSync(inner.dir) && tries < 200; tries += 1) {
      inner.removeIfEmpty();
      await delay(20);
    }
    expect(existsSync(inner.dir)).toBe(false);
    expect(await group.end()).toBe(0);
    expect(await group.end()).toBe(0);
  });
});

test("a folder that is no cgroup's any more ends at once", async () => {
  const [hierarchy] = hierarchies();
  const dir = join(hierarchy?.dir ?? "", `bench-test-${String(process.pid)}-gone`);
  mkdirSync(dir);
  rmdirSync(dir);
  expect(await new TrackedGroup(hierarchy?.version ?? 1, dir).end()).toBe(0);
});
