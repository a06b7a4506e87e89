import { SandboxError, type SandboxBackend } from "../../core/ports/sandbox.ts";
import { FARGATE_CAPS } from "../../sandboxes/fargate/fargate-caps.ts";
import { openCloudAccount } from "./cloud-account.ts";

/**
 * Fargate as a plan sees it from this computer: what its sandboxes hold. They are made by the account's
 * state machine, each with its runner, so that nothing is made, listed or removed from here. Throws
 * `BenchError` (`unavailable`) when there is no account, or nothing deployed in it.
 */
export async function openCloudBackend(
  env: Readonly<Record<string, string | undefined>>,
): Promise<SandboxBackend> {
  await openCloudAccount(env);
  return {
    name: "fargate",
    caps: FARGATE_CAPS,
    prepare: notHere,
    create: notHere,
    list: async () => [],
    remove: async () => undefined,
    removeImages: async () => [],
    close: async () => undefined,
  };
}

async function notHere(): Promise<never> {
  throw new SandboxError("unsupported", "a Fargate sandbox is made by its sweep, not from here");
}
