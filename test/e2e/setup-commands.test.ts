import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runBench, scratchDir } from "./run-bench.ts";
import { writeTask } from "./write-task.ts";

test.skipIf(process.getuid?.() !== 0)(
  "what a task's setup commands make is the agent's to change, and no sign of tampering",
  async () => {
    await using dir = await scratchDir();
    await writeTask(join(dir.path, "tasks/seeded"), {
      toml: [
        'version = "1.0"',
        "[environment]",
        'workdir = "/work/here"',
        "[[environment.setup_commands]]",
        'command = "echo seed >seed; echo made >/etc/made-by-setup"',
        "",
      ].join("\n"),
      agent: "grep -q seed seed && echo grown >>seed",
      test: "grep -q grown /work/here/seed && echo 1 >/logs/verifier/reward.txt",
    });
    const flags = ["run", "tasks", "-a", "script", "--env", "local", "-o", "jobs"];
    const run = await runBench(flags, { cwd: dir.path, stateDir: join(dir.path, "state") });
    expect(run.stdout, run.stderr).toContain("Score: 1/1 (100.0%)");
    const files = await readdir(join(dir.path, "jobs"), { recursive: true });
    expect(files.filter((path) => path.endsWith("hardening.json"))).toEqual([]);
  },
);
