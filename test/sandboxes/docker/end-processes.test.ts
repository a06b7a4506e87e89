import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { SandboxError, type SandboxFailure } from "../../../core/ports/sandbox.ts";
import type { ControlChannel } from "../../../sandboxes/docker/control-channel.ts";
import { endProcesses, type PurgeTools } from "../../../sandboxes/docker/end-processes.ts";
import type { EngineClient } from "../../../sandboxes/docker/engine-client.ts";

const VICTIMS = { kind: "user", uid: 10_001 } as const;

/** A supervisor whose search takes longer than a crowd's, and a helper that fails. */
function tools(left: number, failure: SandboxFailure): PurgeTools {
  const control = {
    request: async () => {
      await delay(1300);
      return [`${String(left)} 2 0 0`];
    },
  };
  return {
    control: control as unknown as ControlChannel,
    client: {} as EngineClient,
    containerId: "c",
    pidsLimit: 100,
    isAlone: () => false,
    killFromOutside: async () => await Promise.reject(new SandboxError(failure, "no helper")),
  };
}

test.each(["start-failed", "unsupported"] as const)(
  "a helper that the search itself killed (%s) is no failure: the search's count decides",
  async (failure) => {
    expect(await endProcesses(tools(0, failure), VICTIMS)).toBe(0);
  },
);

test("any other failure of the helper is told", async () => {
  await expect(endProcesses(tools(0, "lost"), VICTIMS)).rejects.toMatchObject({ failure: "lost" });
});

/** A supervisor that answers its searches in turn, and a daemon that is told limits. */
function answering(answers: readonly string[]) {
  const asked: string[] = [];
  const limits: unknown[] = [];
  const control = {
    request: async (line: (sequence: number) => Uint8Array) => {
      asked.push(Buffer.from(line(1)).toString().trim());
      return await Promise.resolve([answers[asked.length - 1] ?? "0 2 0 0"]);
    },
  };
  const client = {
    run: async (_method: string, _path: string, { json }: { json: { PidsLimit: number } }) => {
      limits.push(json.PidsLimit);
      await Promise.resolve();
    },
  };
  const made: PurgeTools = {
    ...tools(0, "lost"),
    control: control as unknown as ControlChannel,
    client: client as unknown as EngineClient,
    isAlone: () => true,
  };
  return { made, asked, limits };
}

test("what was killed and takes its time to die is waited for, and nobody loses the right to fork", async () => {
  const { made, asked, limits } = answering(["2 60 0 2", "1 60 0 1"]);
  expect(await endProcesses(made, VICTIMS)).toBe(0);
  expect(asked).toHaveLength(3);
  expect(limits).toEqual([]);
});

test("what outruns the search cannot fork meanwhile, and is not killed with all else, the supervisor's pair included", async () => {
  const { made, asked, limits } = answering(["9 60 0 1"]);
  expect(await endProcesses(made, VICTIMS)).toBe(0);
  expect(limits).toEqual([1, 100]);
  expect(asked.map((line) => line.at(-1))).toEqual(["1", "0"]);
});

test.each(["", "0", "0 2 0", "x 2 0 0"])(
  "an answer that counts nothing (%j) is no proof that nothing is left",
  async (answer) => {
    const { made } = answering([answer]);
    await expect(endProcesses(made, VICTIMS)).rejects.toMatchObject({ failure: "lost" });
  },
);
