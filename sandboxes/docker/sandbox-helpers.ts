import type { SandboxOwner } from "../../core/ports/sandbox.ts";
import { type Helper, type HelperContainers, useHelper } from "./helper-containers.ts";
import { killProgram, relayProgram } from "./helper-program.ts";

/** Nobody's: the relay needs no right of any user. */
const RELAY_UID = 65_534;

/** A sandbox that a helper is for. */
export interface ServedSandbox {
  readonly containerId: string;
  readonly owner: SandboxOwner;
  /** The sandbox's name, for the helper's label. */
  readonly serves: string;
}

/** Kills all of a user at once, from a container that sees the sandbox's processes. */
export async function killFromOutside(
  helpers: HelperContainers,
  { containerId, owner, serves }: ServedSandbox,
  uid: number,
): Promise<void> {
  const program = killProgram(helpers.platform);
  const processes = `container:${containerId}`;
  const plan = { program, owner, serves, network: "none", processes, uid, capabilities: [] };
  await useHelper(await helpers.make(plan));
}

/** A helper, not started, that will listen on the loopback of the sandbox. */
export async function relayBeside(
  helpers: HelperContainers,
  { containerId, owner, serves }: ServedSandbox,
): Promise<Helper> {
  const program = relayProgram(helpers.platform);
  const network = `container:${containerId}`;
  return await helpers.make({ program, owner, serves, network, uid: RELAY_UID, capabilities: [] });
}
