import type { NetworkMode, TaskConfig } from "../model/task.ts";
import type { NetworkPolicy, SandboxCaps } from "../ports/sandbox.ts";

/** One value for each stretch of a trial that has a network of its own (spec 6.4). */
export interface PhaseNetworks<Network> {
  /** Health check and setup commands. */
  readonly setup: Network;
  readonly agent: Network;
  readonly verifier: Network;
}

/** What the task says for each phase, its sandbox's word standing for a phase without one; null: nothing. */
export function saidNetworks(config: TaskConfig): PhaseNetworks<NetworkMode | null> {
  const { sandbox, agent, verifier } = config;
  return {
    setup: sandbox.networkMode,
    agent: agent.networkMode ?? sandbox.networkMode,
    verifier: verifier.networkMode ?? sandbox.networkMode,
  };
}

/**
 * What each phase gets on a backend, and what its result records. A task that says nothing has the
 * open internet where there is one (the contract's default) and no network elsewhere. One that asks
 * for it where there is none was refused in the plan, or is run closed on the user's own word
 * (`withoutInternet`); lists of hosts are refused too, and whoever holds none gives no network.
 */
export function givenNetworks(
  config: TaskConfig,
  { publicNetwork }: Pick<SandboxCaps, "publicNetwork">,
): PhaseNetworks<NetworkPolicy> {
  const give = (said: NetworkMode | null): NetworkPolicy =>
    publicNetwork && (said === null || said === "public") ? "public" : "closed";
  const { setup, agent, verifier } = saidNetworks(config);
  return { setup: give(setup), agent: give(agent), verifier: give(verifier) };
}
