import { describe, test } from "vitest";
import { ledgerContract } from "../../../stores/ledger/contract/ledger-contract.ts";
import type { LedgerFixture } from "../../../stores/ledger/contract/ledger-promise.ts";
import { MemoryLedgerStore } from "../../fakes/memory-ledger.ts";

/** Any number of handles on one table, and holders that die when they are told to. */
function memoryFixture(): LedgerFixture {
  const { items } = new MemoryLedgerStore();
  const living = new Set<string>();
  const dead = new Set<string>();
  return {
    pot: "pot",
    openStore: async () => await Promise.resolve(new MemoryLedgerStore(items)),
    deaths: {
      stateOf: async (holder) => {
        await Promise.resolve();
        if (dead.has(holder)) return "dead";
        return living.has(holder) ? "alive" : "unknown";
      },
    },
    startHolder: async () => {
      await Promise.resolve();
      const holder = `holder ${String(living.size)}`;
      living.add(holder);
      return {
        holder,
        kill: async () => {
          await Promise.resolve();
          dead.add(holder);
        },
      };
    },
    foreignHolder: "elsewhere",
  };
}

describe("the ledger in memory keeps its contract", () => {
  test.each(ledgerContract.map(({ promise, check }) => [promise, check] as const))(
    "%s",
    async (_promise, check) => {
      await check(memoryFixture());
    },
  );
});
