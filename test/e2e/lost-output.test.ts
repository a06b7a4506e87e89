import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BENCH, scratchDir } from "./run-bench.ts";
import { writeTask } from "./write-task.ts";

/** Runs one task with its output on a device that is always full. */
async function runOnFullDisk(dir: string, full: "stdout" | "stderr"): Promise<number | null> {
  const device = openSync("/dev/full", "w");
  try {
    const child = spawn(
      process.execPath,
      [BENCH, "run", "tasks", "-a", "oracle", "--env", "local", "-o", "jobs", "--job-name", "j"],
      {
        cwd: dir,
        env: { ...process.env, BENCHFLOW_STATE_DIR: join(dir, "state") },
        stdio: [
          "ignore",
          full === "stdout" ? device : "ignore",
          full === "stderr" ? device : "pipe",
        ],
      },
    );
    child.stderr?.resume();
    return await new Promise((resolve, reject) => {
      child.on("error", reject).on("close", resolve);
    });
  } finally {
    closeSync(device);
  }
}

test.each([
  { full: "stderr", code: 0, why: "nothing was lost but progress" },
  { full: "stdout", code: 4, why: "the scores that were asked for were not printed" },
] as const)(
  "a run whose $full is on a full disk ends with every result; exit $code: $why",
  { timeout: 60_000 },
  async ({ full, code }) => {
    await using dir = await scratchDir();
    await writeTask(join(dir.path, "tasks/one"));
    expect(await runOnFullDisk(dir.path, full)).toBe(code);
    const summary = await readFile(join(dir.path, "jobs/j/summary.json"), "utf8");
    expect(JSON.parse(summary)).toMatchObject({ passed: 1, total: 1 });
  },
);
