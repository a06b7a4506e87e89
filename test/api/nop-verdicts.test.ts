import { expect, test } from "vitest";
import { SandboxError } from "../../core/ports/sandbox.ts";
import type { TaskPlay } from "../fakes/trial-programs.ts";
import { writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { aScene, type Scene, startTrials, until, verdictOf } from "./run-scene.ts";

/** A verifier that a workspace with an answer in it breaks, and an empty one does not. */
const BROKEN_BY_WORK: TaskPlay = {
  harden: async ({ tree }) => {
    if (tree.read("/app/answer") !== null) throw new SandboxError("start-failed", "broken");
  },
};

async function breakAlways(): Promise<void> {
  throw new SandboxError("start-failed", "broken");
}

async function runNop(scene: Scene): Promise<void> {
  const { ended } = await startTrials(scene, { agent: "nop", jobName: "controls" });
  expect(await ended).toBe(1);
}

/** Three attempts, the last two after their waits. */
async function runOracle(scene: Scene, saveOutputs = false) {
  const { ended, records } = await startTrials(scene, { jobName: "work", saveOutputs });
  for (const delayMs of [2000, 4000]) {
    await until(() => scene.clock.sleeping === 1);
    await scene.clock.advance(delayMs);
  }
  await ended;
  return await records();
}

test("a verifier that fails twice on an agent's work but works on nop's is told apart (attack 32)", async () => {
  const scene = await aScene({ plays: { alpha: BROKEN_BY_WORK } });
  await runNop(scene);
  const found = await runOracle(scene);
  expect(found.map(verdictOf)).toEqual(Array(3).fill("verifier_infra (infrastructure)"));
  expect(found.map(({ outcome }) => outcome.kind === "unscored" && outcome.afterAgent)).toEqual([
    false,
    true,
    true,
  ]);
  expect(found.map(({ verification }) => verification)).toMatchObject([
    { verify_only_from: null, refused: false, failures: 1, works_on_nop: null },
    { verify_only_from: null, refused: false, failures: 2, works_on_nop: true },
    { verify_only_from: null, refused: false, failures: 3, works_on_nop: true },
  ]);
});

test("the same saved workspace is counted on through its verify-only attempts", async () => {
  const scene = await aScene({ plays: { alpha: BROKEN_BY_WORK } });
  await runNop(scene);
  const found = await runOracle(scene, true);
  const [first] = found;
  expect(found.map(({ verification }) => verification?.verify_only_from ?? null)).toEqual([
    null,
    first?.rolloutName,
    found[1]?.rolloutName,
  ]);
  expect(found.at(-1)?.verification).toMatchObject({ failures: 3, works_on_nop: true });
});

test("without a nop control nobody knows, and with one whose verifier fails as well it is the task's", async () => {
  const alone = await aScene({ plays: { alpha: BROKEN_BY_WORK } });
  const unknown = (await runOracle(alone)).at(-1);
  expect(unknown).toMatchObject({ outcome: { afterAgent: false } });
  expect(unknown?.verification).toMatchObject({ failures: 3, works_on_nop: null });

  const scene = await aScene({ plays: { alpha: { harden: breakAlways } } });
  const control = await startTrials(scene, { agent: "nop", jobName: "controls", retryAttempts: 0 });
  await control.ended;
  const both = (await runOracle(scene)).at(-1);
  expect(both).toMatchObject({ outcome: { afterAgent: false } });
  expect(both?.verification).toMatchObject({ failures: 3, works_on_nop: false });
});

test("a nop control of another version of the task says nothing", async () => {
  const scene = await aScene({ plays: { alpha: BROKEN_BY_WORK } });
  await runNop(scene);
  const other = await aScene({ plays: { alpha: BROKEN_BY_WORK }, store: scene.store });
  await writeFiles(`${other.tasksDir}/alpha`, { "instruction.md": "Do something else.\n" });
  const last = (await runOracle(other)).at(-1);
  expect(last?.verification).toMatchObject({ failures: 3, works_on_nop: null });
});

test("a score after a lost attempt stands, and tells how often its verifier had failed", async () => {
  let hardened = 0;
  const scene = await aScene({
    plays: {
      alpha: {
        harden: async () => {
          hardened += 1;
          if (hardened === 1) throw new SandboxError("start-failed", "the script was killed");
        },
      },
    },
  });
  const { ended, records } = await startTrials(scene);
  await until(() => scene.clock.sleeping === 1);
  await scene.clock.advance(2000);
  await ended;
  expect((await records()).map(({ verification }) => verification?.failures)).toEqual([1, 1]);
});
