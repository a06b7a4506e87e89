import { expect, test } from "vitest";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import type { EngineClient } from "../../../sandboxes/docker/engine-client.ts";
import type { HelperContainers } from "../../../sandboxes/docker/helper-containers.ts";
import { NetworkKeeper } from "../../../sandboxes/docker/network-keeper.ts";
import { OWNER } from "./docker-fixture.ts";

function keeperThat(fails: Error): { keeper: NetworkKeeper; asked: () => number } {
  let asked = 0;
  const helpers = {
    platform: "linux/amd64",
    make: async () => {
      asked += 1;
      return await Promise.reject(fails);
    },
  } as unknown as HelperContainers;
  const client = {} as EngineClient;
  return { keeper: new NetworkKeeper(client, helpers), asked: () => asked };
}

test("a daemon that refuses the container is asked once, and its reason is kept", async () => {
  const refusal = new SandboxError("start-failed", "cannot share the host's network");
  const { keeper, asked } = keeperThat(refusal);
  expect(keeper.refusal).toBeNull();
  expect(await keeper.lenderId(OWNER)).toBeNull();
  expect(await keeper.send("id", OWNER, [])).toBe(false);
  expect(await keeper.send("id", OWNER, [])).toBe(false);
  expect(asked()).toBe(1);
  expect(keeper.refusal).toBe("cannot share the host's network");
  await keeper.close();
});

test("what no daemon said is no refusal: it is thrown to whoever asks", async () => {
  const { keeper } = keeperThat(new TypeError("a mistake of ours"));
  await expect(keeper.lenderId(OWNER)).rejects.toThrow("a mistake of ours");
  await expect(keeper.send("id", OWNER, [])).rejects.toThrow("a mistake of ours");
  expect(keeper.refusal).toBeNull();
  await keeper.close();
});
