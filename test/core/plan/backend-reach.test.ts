import { expect, test } from "vitest";
import { type BackendReach, backendReach } from "../../../core/plan/backend-reach.ts";
import { renderReach } from "../../../core/report/console/reach-lines.ts";
import { ALL_CAPS, aTask } from "./plan-builders.ts";

const FACTS = {
  environment: "docker",
  agentIsHostile: true,
  runsSolution: false,
  withoutInternet: false,
} as const;

function reachOf(caps: typeof ALL_CAPS | null, missing: string | null = null): BackendReach {
  const many = aTask("many", { compose: true });
  const both = aTask("both", {
    compose: true,
    refusals: [{ path: "steps", reason: "are not run" }],
  });
  return backendReach([aTask("alpha"), both, many], { ...FACTS, caps, missing });
}

test("a task with several reasons is under each of them, and counts once", () => {
  const reach = reachOf(ALL_CAPS);
  expect(reach).toMatchObject({ canRun: 1, tasks: 3 });
  expect(reach.reasons).toEqual([
    { reason: "steps: are not run", tasks: ["both"] },
    { reason: "runs no compose files", tasks: ["both", "many"] },
  ]);
  expect(renderReach([reach])).toEqual([
    "--env docker: 1 of 3 tasks can run; 2 cannot: steps: are not run: both; runs no compose files: both, many",
  ]);
});

test("of a backend that cannot be had only what the tasks say themselves is known", () => {
  expect(renderReach([reachOf(null, "no daemon answers")])).toEqual([
    "--env docker: not here (no daemon answers); there, as far as the tasks say, 1 of 3 tasks could run; 2 cannot: steps: are not run: both; compose: no sandbox of this edition runs compose files: both, many",
  ]);
});

test("a backend that can run all of them says so and nothing else", () => {
  const reach = backendReach([aTask("alpha")], { ...FACTS, caps: ALL_CAPS, missing: null });
  expect(renderReach([reach])).toEqual(["--env docker: 1 of 1 tasks can run"]);
});
