import { expect, test } from "vitest";
import { TaskDocument } from "../../../core/model/task.ts";
import { describeScenes } from "../../../core/results/describe-scenes.ts";
import { aTask, someSettings } from "../plan/plan-builders.ts";

test("a task's scenes are told one by one, each with its role and all of its turns", () => {
  const turn = { role: "solver", prompt: "go on" };
  const document = TaskDocument.parse({
    scenes: [
      { name: "first", turns: [turn, turn] },
      { name: "second", turns: [turn] },
    ],
  });
  const spec = { task: aTask("task", { document }), agent: "claude-agent-acp", model: "m" };
  const scenes = describeScenes({ spec, settings: someSettings(), isAsked: true });
  expect(
    scenes.map(({ name, roles, turns }) => [name, roles.map((role) => role.name), turns]),
  ).toEqual([
    [
      "first",
      ["solver"],
      [
        { role: "solver", has_prompt: true },
        { role: "solver", has_prompt: true },
      ],
    ],
    ["second", ["solver"], [{ role: "solver", has_prompt: true }]],
  ]);
});
