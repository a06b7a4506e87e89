import type { Breaker, PotHead } from "../model/ledger-pot.ts";
import type { TrialEnding } from "../ports/ledger.ts";
import { headKey } from "./item-keys.ts";
import { MAX_TRIES, crowded, readPot } from "./read-pot.ts";
import type { PotAccess } from "./read-pot.ts";
import { stopPot } from "./stop-pot.ts";
import { equal, set } from "./updates.ts";

/** See `Ledger.noteEnding`. */
export async function noteEnding(access: PotAccess, ending: TrialEnding): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { head } = await readPot(access);
    const breaker = afterEnding(head.breaker, ending);
    if (breaker === null || (await replaceBreaker(access, head, breaker))) {
      const open = isOpen(breaker ?? head.breaker);
      // Told again when it was open already: who opened it may have died before telling.
      if (open && head.stop === undefined) await stopPot(access, breakerStop(head.breaker));
      return;
    }
  }
  throw crowded(access.pot, "count how a trial ended");
}

/** The breaker after one more trial ended; null when that changes nothing. */
export function afterEnding(breaker: Breaker, ending: TrialEnding): Breaker | null {
  const { version, threshold, refused } = breaker;
  if (isOpen(breaker)) return null;
  if (!ending.refusedByProvider)
    return refused.length === 0 ? null : { version: version + 1, threshold, refused: [] };
  if (refused.includes(ending.trial)) return null;
  return { version: version + 1, threshold, refused: [...refused, ending.trial] };
}

function isOpen({ threshold, refused }: Breaker): boolean {
  return threshold > 0 && refused.length >= threshold;
}

async function replaceBreaker(
  { store, pot }: PotAccess,
  { breaker: { version } }: PotHead,
  breaker: Breaker,
): Promise<boolean> {
  return await store.write([
    {
      key: headKey(pot),
      conditions: [equal(["breaker", "version"], version)],
      changes: [set(["breaker"], { ...breaker })],
    },
  ]);
}

function breakerStop({ threshold }: Breaker): { kind: "breaker"; reason: string } {
  return {
    kind: "breaker",
    reason: `the provider refused ${threshold} trials in a row (its key, its account or its model)`,
  };
}
