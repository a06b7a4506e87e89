import type { SandboxRecord } from "../ports/sandbox.ts";

/**
 * The sandboxes that a dead run left behind (attack 18): those whose owner is proven dead on this
 * machine, and those whose owner cannot be seen from here and whose lease has ended. `nowMs` is by the
 * backend's clock. A living owner's are never among them, whatever their lease says.
 */
export function findOrphans(records: readonly SandboxRecord[], nowMs: number): SandboxRecord[] {
  return records.filter(({ ownerState, expiresAt }) => {
    if (ownerState === "alive") return false;
    return ownerState === "dead" || (expiresAt !== null && Date.parse(expiresAt) < nowMs);
  });
}
