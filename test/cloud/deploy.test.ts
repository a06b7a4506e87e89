import { expect, test } from "vitest";
import { openCloudAccount } from "../../api/cloud/cloud-account.ts";
import { deployToEmulator } from "./deployed-stack.ts";
import { emulatedEnv } from "./emulated-account.ts";

test("a deploy makes all that a sweep needs, and a second one changes nothing", async () => {
  const first = await deployToEmulator();
  expect(first.account.stack.OutSweep).toContain(":stateMachine:BenchflowCloud-sweep");
  const second = await deployToEmulator();
  expect(second.account.stack).toEqual(first.account.stack);
});

test("a region without the stack is told with the command that makes it", async () => {
  const elsewhere = { ...emulatedEnv(), AWS_REGION: "eu-west-3" };
  await expect(openCloudAccount(elsewhere)).rejects.toMatchObject({
    kind: "unavailable",
    message: "nothing is deployed in region eu-west-3",
  });
});
