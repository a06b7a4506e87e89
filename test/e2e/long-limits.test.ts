import { join } from "node:path";
import { expect, test } from "vitest";
import { runBench, scratchDir } from "./run-bench.ts";
import { writeTask } from "./write-task.ts";

test("limits longer than a timer can hold are long, not over at once", async () => {
  await using dir = await scratchDir();
  const limits = "timeout_sec = 3000000.0";
  const toml = `version = "1.0"\n[agent]\n${limits}\n[verifier]\n${limits}\n[environment]\nbuild_${limits}\n`;
  await writeTask(join(dir.path, "tasks/one"), { toml, solve: "sleep 0.5; echo 1 >/app/answer" });
  const args = ["run", "tasks", "-a", "oracle", "--env", "local", "--timeout-multiplier", "1000"];
  const run = await runBench(args, { cwd: dir.path, stateDir: join(dir.path, "state") });
  expect(run.stderr).not.toContain("TimeoutOverflowWarning");
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining("1/1 (100.0%)") });
}, 60_000);
