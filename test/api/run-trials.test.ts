import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BenchError } from "../../core/errors.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { type Agent, NO_USAGE } from "../../runner/agents/agent.ts";
import { giveNothing, hang, solveIt } from "../fakes/trial-programs.ts";
import { writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { aScene, startTrials, until, verdictOf } from "./run-scene.ts";

/** An agent whose provider refuses its key, whatever the task. */
const refusedAgent: Agent = {
  name: "refused",
  runsAs: "agent-user",
  needsSolution: false,
  models: null,
  mounts: [],
  run: async () => ({
    agentName: "refused",
    end: {
      kind: "error",
      error: { category: "provider_auth", message: "401 invalid x-api-key" },
      exitCode: null,
    },
    toolCalls: 0,
    skillInvocations: 0,
    prompts: [],
    usage: NO_USAGE,
  }),
};

/** Fails the first `times` creations of sandboxes for a task. */
function failing(taskName: string, times: number, error: Error) {
  let left = times;
  return ({ owner }: { readonly owner: { readonly rolloutName: string } }): void => {
    if (!owner.rolloutName.startsWith(`${taskName}__`) || left === 0) return;
    left -= 1;
    throw error;
  };
}

const NO_START = new SandboxError("start-failed", "no sandbox today");

describe("an attempt that failed in passing", () => {
  test("is tried again after 2 s and then after 4 s, each time in a new folder", async () => {
    const scene = await aScene({ plays: { alpha: {} } });
    scene.backend.beforeCreate = failing("alpha", 2, NO_START);
    const { ended, records } = await startTrials(scene);

    await until(() => scene.clock.sleeping === 1);
    await scene.clock.advance(1999);
    expect(scene.backend.created).toHaveLength(1);
    await scene.clock.advance(1);
    await until(() => scene.clock.asked.length === 2);
    await scene.clock.advance(3999);
    expect(scene.backend.created).toHaveLength(2);
    await scene.clock.advance(1);

    expect(await ended).toBe(1);
    expect(scene.clock.asked).toEqual([2000, 4000]);
    const found = await records();
    expect(found.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(found.map(({ rolloutName }) => rolloutName)).size).toBe(3);
    const unmade = "sandbox_setup (infrastructure)";
    expect(found.map(verdictOf)).toEqual([unmade, unmade, 1]);
    const ends = scene.events.flatMap((event) =>
      event.type === "trial-ended" ? [event.retryInMs] : [],
    );
    expect(ends).toEqual([2000, 4000, null]);
  });

  test("is given up after the attempts that the settings allow", async () => {
    const scene = await aScene({ plays: { alpha: {} } });
    scene.backend.beforeCreate = failing("alpha", 9, NO_START);
    const { ended, records } = await startTrials(scene, { retryAttempts: 1 });
    await until(() => scene.clock.sleeping === 1);
    await scene.clock.advance(2000);
    expect(await ended).toBe(1);
    expect(await records()).toHaveLength(2);
  });

  test("holds no place in the queue while it waits", async () => {
    const scene = await aScene({ plays: { alpha: {}, beta: {} } });
    scene.backend.beforeCreate = failing("alpha", 1, NO_START);
    const { ended, records } = await startTrials(scene, { concurrency: 1 });
    await until(() => scene.clock.sleeping === 1 && scene.backend.created.length === 2);
    await until(() => scene.backend.alive.length === 0);
    await scene.clock.advance(2000);
    expect(await ended).toBe(2);
    const order = (await records()).map(({ taskName, attempt }) => `${taskName} ${attempt ?? 0}`);
    expect(order).toEqual(["alpha 1", "beta 1", "alpha 2"]);
  });

  test("stops waiting when the run is stopped, and makes no other attempt", async () => {
    const scene = await aScene({ plays: { alpha: {} } });
    scene.backend.beforeCreate = failing("alpha", 9, NO_START);
    const { ended, records } = await startTrials(scene);
    await until(() => scene.clock.sleeping === 1);
    scene.stop();
    expect(await ended).toBe(0);
    expect(await records()).toHaveLength(1);
  });
});

test("a sandbox that vanishes is infrastructure's fault, and the trial gets a new attempt (C-41)", async () => {
  const tries: string[] = [];
  const scene = await aScene({
    plays: {
      alpha: {
        solve: async (run) => {
          tries.push(run.owner.rolloutName);
          if (tries.length > 1) return await solveIt(run);
          await scene.backend.vanish(run.owner.rolloutName);
        },
      },
    },
  });
  const { ended, records } = await startTrials(scene);
  await until(() => scene.clock.sleeping === 1);
  await scene.clock.advance(2000);
  expect(await ended).toBe(1);
  const found = await records();
  expect(found.map(verdictOf)).toEqual(["infra_failure (infrastructure)", 1]);
  expect(found[0]?.outcome).toMatchObject({ phase: "agent" });
  expect(new Set(tries).size).toBe(2);
  expect(scene.backend.alive).toEqual([]);
});

test("a trial during which the computer slept measures nothing and is tried again (attack 18)", async () => {
  let slept = false;
  const scene = await aScene({
    plays: {
      alpha: {
        solve: async (run) => {
          if (!slept) scene.clock.suspend(60_000);
          slept = true;
          await solveIt(run);
        },
      },
    },
  });
  const { ended, records } = await startTrials(scene);
  await until(() => scene.clock.sleeping === 1);
  await scene.clock.advance(2000);
  await ended;
  expect((await records()).map(verdictOf)).toEqual(["host_suspended (infrastructure)", 1]);
});

test("work whose verifier could not run is only verified again", async () => {
  let [solved, hardened] = [0, 0];
  const scene = await aScene({
    plays: {
      alpha: {
        solve: async (run) => {
          solved += 1;
          await solveIt(run);
        },
        harden: async () => {
          hardened += 1;
          if (hardened === 1) throw new SandboxError("start-failed", "the script was killed");
        },
      },
    },
  });
  const { ended, records } = await startTrials(scene, { saveOutputs: true });
  await until(() => scene.clock.sleeping === 1);
  await scene.clock.advance(2000);
  expect(await ended).toBe(1);
  const found = await records();
  expect(found.map(verdictOf)).toEqual(["verifier_infra (infrastructure)", 1]);
  expect(solved).toBe(1);
  expect(found[1]?.isolation?.notes).toContain(
    `only verified: the work of ${found[0]?.rolloutName}`,
  );
});

test("one trial's failure, whatever fails, does not stop the others", async () => {
  const plays = { build: {}, crash: {}, good: {}, silent: { verify: giveNothing } };
  const scene = await aScene({ plays });
  // Tasks of equal context share an image, and what is wrong with it.
  await writeFiles(join(scene.tasksDir, "build"), { "environment/own": "" });
  scene.backend.beforePrepare = ({ owner }) => {
    if (owner.rolloutName.startsWith("build__"))
      throw new SandboxError("build-failed", "RUN exited with 1");
  };
  scene.backend.beforeCreate = failing("crash", 1, new TypeError("undefined is not a function"));
  const { ended, records } = await startTrials(scene, { retryAttempts: 0, concurrency: 1 });
  expect(await ended).toBe(4);
  const found = await records();
  expect(Object.fromEntries(found.map((record) => [record.taskName, verdictOf(record)]))).toEqual({
    build: "sandbox_setup (task)",
    crash: "infra_failure (infrastructure)",
    good: 1,
    silent: "verifier_failure (task)",
  });
  expect(scene.backend.alive).toEqual([]);
});

describe("the circuit breaker", () => {
  test("opens after failures of one kind in a row, and seals what has not started", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const plays = Object.fromEntries(names.map((name) => [name, { verify: giveNothing }]));
    const scene = await aScene({ plays });
    const settings = { breakerThreshold: 3, concurrency: 1 };
    const { ended, records } = await startTrials(scene, settings, refusedAgent);
    expect(await ended).toBe(5);
    const found = await records();
    const [auth, open] = ["provider_auth (setup)", "circuit_open (setup)"];
    expect(found.map(verdictOf)).toEqual([auth, auth, auth, open, open]);
    expect(found[4]?.outcome).toMatchObject({
      detail: "skipped: api-error circuit breaker open ([auth] x3 consecutive)",
    });
    expect(scene.backend.created).toHaveLength(3);
  });

  test("with threshold 0 never opens", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const plays = Object.fromEntries(names.map((name) => [name, { verify: giveNothing }]));
    const scene = await aScene({ plays });
    const { ended } = await startTrials(scene, { breakerThreshold: 0 }, refusedAgent);
    expect(await ended).toBe(6);
    expect(scene.backend.created).toHaveLength(6);
  });
});

describe("what ends all trials", () => {
  test("a store that fails ends the running ones, starts no other, and leaves no sandbox", async () => {
    const plays = { alpha: { solve: hang }, beta: {}, gamma: {} };
    const scene = await aScene({ plays });
    const { ended, folder } = await startTrials(scene, { concurrency: 2 });
    scene.store.beforeWrite = (path) => {
      if (!path.includes("/beta__") || !path.endsWith("oracle.txt")) return;
      throw new BenchError("unavailable", "cannot write: no space left", { next: "free some" });
    };
    await expect(ended).rejects.toThrow("no space left");
    expect(scene.backend.alive).toEqual([]);
    const names: string[] = [];
    for await (const { rolloutName } of folder.attempts()) names.push(rolloutName.slice(0, -10));
    expect(names.toSorted()).toEqual(["alpha", "beta"]);
  });

  test("a lease that is lost ends the run, and nothing more is written into the job", async () => {
    const scene = await aScene({
      plays: {
        alpha: {
          solve: async (run) => {
            for (const job of scene.store.disk.jobs.values()) job.owner = "another process";
            await solveIt(run);
          },
        },
        beta: { solve: hang },
      },
    });
    const { ended, records } = await startTrials(scene, { concurrency: 2 });
    await expect(ended).rejects.toThrow("was taken over by another process");
    expect(scene.backend.alive).toEqual([]);
    expect(await records()).toEqual([]);
  });

  test("a person's stop seals the running ones as interrupted and starts no other", async () => {
    const scene = await aScene({ plays: { alpha: {}, beta: { solve: hang }, gamma: {} } });
    const { ended, records } = await startTrials(scene, { concurrency: 1 });
    await until(() => scene.backend.alive.some((name) => name.startsWith("beta__")));
    scene.stop();
    expect(await ended).toBe(1);
    expect((await records()).map(verdictOf)).toEqual([1, "interrupted (infrastructure)"]);
    expect(scene.backend.alive).toEqual([]);
  });
});
