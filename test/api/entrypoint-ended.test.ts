import { expect, test } from "vitest";
import { MemorySandboxes } from "../fakes/memory-sandboxes/memory-sandboxes.ts";
import { trialPrograms } from "../fakes/trial-programs.ts";
import { aScene, startTrials, verdictOf } from "./run-scene.ts";

test("an image whose ENTRYPOINT ends early is the task's fault, and is started only once", async () => {
  const plays = { alpha: {} };
  const programs = new Map([...trialPrograms(plays), ["entry", async () => 3]]);
  const backend = new MemorySandboxes({ programs });
  const prepare = backend.prepare.bind(backend);
  backend.prepare = async (request) => ({ ...(await prepare(request)), entrypoint: ["entry"] });
  const scene = await aScene({ plays, backend });
  const { ended, records } = await startTrials(scene, { retryAttempts: 2 });

  expect(await ended).toBe(1);
  const found = await records();
  expect(found.map(verdictOf)).toEqual(["sandbox_setup (task)"]);
  expect(found[0]?.outcome).toMatchObject({
    phase: "start",
    detail: expect.stringContaining("ENTRYPOINT ended with exit code 3"),
  });
  expect(backend.created).toHaveLength(1);
  expect(backend.alive).toEqual([]);
});
