import { expect, test } from "vitest";
import { Trajectory } from "../../runner/trajectory.ts";
import { attemptFiles } from "./verifier/attempt-files.ts";

const PATH = "trajectory/acp_trajectory.jsonl";

test("what an agent said is kept as it says it, so that one that is killed leaves it (C-15)", async () => {
  const files = await attemptFiles();
  const trajectory = await Trajectory.open(files.folder);
  await trajectory.record({ type: "agent_message", text: "first" });
  expect(files.text(PATH)).toBe('{"type": "agent_message", "text": "first"}\n');
  await trajectory.record({ type: "agent_message", text: "second" });
  // Nobody closed the file: the process that wrote it may be gone.
  expect(files.text(PATH).trim().split("\n")).toHaveLength(2);
  expect(files.text(PATH)).toBe(trajectory.text());
  await trajectory.close();
});
