import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { allPids, markOf, seeProcess } from "../../sandboxes/processes.ts";
import { isLeaderless, LEADERLESS } from "./leaderless-program.ts";

test("a process whose first thread has ended still runs, until all of it has", async () => {
  const child = start("perl", "-e", LEADERLESS);
  const pid = child.pid ?? 0;
  await expect.poll(() => isLeaderless(statusOf(pid))).toBe(true);
  expect(seeProcess(pid)).toMatchObject({ pid, state: "running", parent: process.pid });
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(seeProcess(pid)).toBeNull();
});

test("a process is seen with its parent and its session, under a name of its own", () => {
  const pid = start("sleep", "60").pid ?? 0;
  const sight = seeProcess(pid);
  expect(sight).toMatchObject({ pid, parent: process.pid, session: pid, state: "running" });
  expect(sight === null ? "" : markOf(sight)).toMatch(new RegExp(`^${String(pid)}@\\d+$`, "u"));
  expect(allPids()).toContain(pid);
});

/** In a session of its own; killed at the end of the test. */
function start(program: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(program, args, { stdio: "ignore", detached: true });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

function statusOf(pid: number): string {
  return readFileSync(`/proc/${String(pid)}/status`, "latin1");
}
