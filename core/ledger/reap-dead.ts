import type { Ledger } from "../ports/ledger.ts";
import { leasesOf } from "./sum-pot.ts";

export interface Reaped {
  /** Attempts whose money came back, less what they might have spent. */
  readonly returned: readonly string[];
  /** Attempts whose holder lives, or may live: their money stays reserved. */
  readonly held: readonly string[];
}

/**
 * Ends every open attempt whose runner is proven dead, as a command does first that goes on with a pot
 * (after the sandboxes of the dead are gone).
 */
export async function reapDead(ledger: Ledger): Promise<Reaped> {
  const returned: string[] = [];
  const held: string[] = [];
  for (const { attempt } of leasesOf(await ledger.view())) {
    const reply = await ledger.reap(attempt);
    if (reply.kind === "returned") returned.push(attempt);
    if (reply.kind === "held") held.push(attempt);
  }
  return { returned, held };
}
