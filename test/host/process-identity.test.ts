import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { identifyProcess, processState } from "../../host/process-identity.ts";

test("this process is alive and a killed one is dead", async () => {
  expect(processState(identifyProcess())).toBe("alive");
  const child = spawn("sleep", ["60"]);
  await once(child, "spawn");
  const identity = identifyProcess(child.pid);
  expect(processState(identity)).toBe("alive");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(processState(identity)).toBe("dead");
});

test("a reused pid is not taken for its predecessor", () => {
  const [boot, namespace, pid] = identifyProcess().split("/");
  expect(processState(`${boot}/${namespace}/${pid}/1`)).toBe("dead");
});

test("a process of another boot or namespace is unknown, not dead", () => {
  const [boot, namespace, pid, ticks] = identifyProcess().split("/");
  expect(processState(`other/${namespace}/${pid}/${ticks}`)).toBe("unknown");
  expect(processState(`${boot}/1/${pid}/${ticks}`)).toBe("unknown");
  expect(processState("nonsense")).toBe("unknown");
});
