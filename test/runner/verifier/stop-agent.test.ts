import { expect, test } from "vitest";
import { stopAgent } from "../../../runner/verifier/stop-agent.ts";
import { ScriptedSandbox } from "./scripted-sandbox.ts";

const mark = { processes: [] };

test("an agent is stopped by its user and by what was not there before it", async () => {
  const sandbox = new ScriptedSandbox();
  await stopAgent(sandbox, { uid: 10_001, mark });
  expect(sandbox.killed).toBe(2);
});

test("root has no user of its own to kill, so an oracle is stopped by what it started", async () => {
  const sandbox = new ScriptedSandbox();
  await stopAgent(sandbox, { uid: 0, mark });
  expect(sandbox.killed).toBe(1);
});

test("one process that lives on means that no test may enter", async () => {
  const sandbox = new ScriptedSandbox();
  sandbox.leftSince = [1];
  await expect(stopAgent(sandbox, { uid: 10_001, mark })).rejects.toMatchObject({
    failure: "lost",
    message: "1 processes of the agent could not be ended",
  });
});
