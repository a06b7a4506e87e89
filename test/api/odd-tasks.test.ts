import { join } from "node:path";
import { expect, test } from "vitest";
import { planBenchmark, readPlanInput } from "../../api/plan-benchmark.ts";
import { someSettings } from "../core/plan/plan-builders.ts";
import { writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { aScene, startTrials, verdictOf } from "./run-scene.ts";

const GOOD_TASKS = { beta: {}, gamma: {}, delta: {} };

test.each([
  [
    "an illegal TOML escape is told with its place (C-26)",
    { "task.toml": 'version = "1.0"\ndesc = "/session\\s*/"\n' },
    /task\.toml:2:\d+: unrecognised escape sequence/u,
  ],
  [
    "a compose file, odd keys and all, is told as what cannot run here (C-27)",
    {
      "environment/docker-compose.yaml":
        "services:\n  main:\n    tmpfs: /x\n    platform: linux/amd64\n    x-odd: [1]\n",
    },
    /compose/u,
  ],
  [
    "a version of another major is told with its place (C-28)",
    { "task.toml": 'version = "9.0"\n' },
    /task\.toml:1:1: version is "9\.0", it must be a version with major 1/u,
  ],
])("%s, and the three good tasks beside it run", async (_, files, reason) => {
  const scene = await aScene({ plays: { alpha: {}, ...GOOD_TASKS } });
  await writeFiles(join(scene.tasksDir, "alpha"), files);
  const input = await readPlanInput(someSettings({ tasksDir: scene.tasksDir }), scene.world);
  const { skipped, tasks } = planBenchmark(input, scene.backend.caps);
  expect(skipped.map(({ name }) => name)).toEqual(["alpha"]);
  expect(skipped[0]?.reason).toMatch(reason);
  expect(tasks.map(({ name }) => name)).toEqual(["beta", "delta", "gamma"]);
  const { ended, records } = await startTrials(scene);
  expect(await ended).toBe(3);
  expect((await records()).map(verdictOf)).toEqual([1, 1, 1]);
});
