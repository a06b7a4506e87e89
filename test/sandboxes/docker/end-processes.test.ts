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
      return [`${String(left)} 0 0`];
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
