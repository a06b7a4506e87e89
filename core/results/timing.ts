import type { Phase } from "../model/outcome.ts";
import { ControlAgent } from "../model/settings.ts";
import type { PhaseSpan } from "../model/trial.ts";
import { exactSum } from "../stats/exact-sum.ts";

type ContractPhase = "environment_setup" | "agent_setup" | "agent_execution" | "verifier";

/** Freezing, collecting and ending have no phase in the contract: they are in `total` alone. */
const CONTRACT_PHASES: Partial<Record<Phase, ContractPhase>> = {
  prepare: "environment_setup",
  start: "environment_setup",
  setup: "agent_setup",
  agent: "agent_execution",
  "stop-agent": "agent_execution",
  verify: "verifier",
};

/**
 * The contract's `timing` (spec 1.4 #36) from the spans of all phases: seconds rounded to 0.1, a
 * phase that never ran is absent, and `total` is the sum of every span. A control installs no
 * agent, so its setup is the environment's.
 */
export function timingOf(spans: readonly PhaseSpan[], agent: string): Record<string, number> {
  const control = ControlAgent.safeParse(agent).success;
  const seconds = new Map<string, number[]>();
  for (const span of spans) {
    const mapped = CONTRACT_PHASES[span.phase];
    const phase = control && mapped === "agent_setup" ? "environment_setup" : mapped;
    if (phase !== undefined) seconds.set(phase, [...(seconds.get(phase) ?? []), span.seconds]);
  }
  const order = ["environment_setup", "agent_setup", "agent_execution", "verifier"];
  const ran = order.flatMap((phase) => {
    const parts = seconds.get(phase);
    return parts === undefined ? [] : [[phase, toTenths(exactSum(parts))] as const];
  });
  const total = exactSum(spans.map((span) => span.seconds));
  return Object.fromEntries([...ran, ["total", toTenths(total)]]);
}

/** Seconds to one decimal. */
export function toTenths(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
