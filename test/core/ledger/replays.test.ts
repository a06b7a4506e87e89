import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { createLedger } from "../../../core/ledger/create-ledger.ts";
import { LeaseClient } from "../../../core/ledger/lease-client.ts";
import { LEDGER_UNITS } from "../../../core/model/ledger-amount.ts";
import type { ItemUpdate } from "../../../core/model/ledger-update.ts";
import type { Ledger } from "../../../core/ports/ledger.ts";
import { MemoryLedgerStore } from "../../fakes/memory-ledger.ts";
import { isBalanced, viewOf } from "./inspect-table.ts";
import { admitRequest, usd } from "./ledger-builders.ts";

/** Keeps what really happened, to deliver it once more. */
class KeepingStore extends MemoryLedgerStore {
  readonly happened: (readonly ItemUpdate[])[] = [];

  override apply(updates: readonly ItemUpdate[]): boolean {
    const applied = super.apply(updates);
    if (applied) this.happened.push(updates);
    return applied;
  }
}

type Act =
  | { do: "give" | "leave" | "close" | "reap" | "die"; trial: number }
  | { do: "admit" | "call" | "wait" | "turn"; trial: number; worst: number }
  | { do: "settle"; trial: number; call: number; percent: number }
  | { do: "caps"; microUsd: number; width: number }
  | { do: "end" | "stop"; trial: number; refused: boolean };

const trial = fc.nat(3);
const worst = fc.integer({ min: 0, max: 60 });
const percent = fc.integer({ min: 0, max: 100 });
const act = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("admit"), trial, worst }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant("call"), trial, worst }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("wait", "turn"), trial, worst }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant("settle"), trial, call: fc.nat(12), percent }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("give", "leave", "close", "reap", "reap", "die"),
      trial,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("caps"),
      microUsd: fc.integer({ min: 0, max: 400 }),
      width: fc.constantFrom(1, 40, 100),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("end", "stop"), trial, refused: fc.boolean() }),
  },
) as fc.Arbitrary<Act>;

/** A pot, and what its trials' runners know; steps are taken in any order, sensible or not. */
class Players {
  readonly store = new KeepingStore();
  readonly ledger: Ledger;
  readonly #clients = new Map<number, LeaseClient>();
  readonly #dead = new Set<string>();
  /** Worst case of each call that was opened. */
  readonly #worst = new Map<string, number>();

  constructor() {
    const deaths = {
      stateOf: async (holder: string) =>
        await Promise.resolve(this.#dead.has(holder) ? ("dead" as const) : ("alive" as const)),
    };
    this.ledger = createLedger({ store: this.store, pot: "pot", deaths });
  }

  async open(microUsd: number, width: number): Promise<void> {
    const caps = { ...NO_CAPS, microUsd, rollouts: 5 };
    await this.ledger.open({ caps, width, breakerThreshold: 3 });
  }

  async act(each: Act): Promise<void> {
    if (each.do === "caps") return await this.open(each.microUsd, each.width);
    const attempt = `trial-${String(each.trial)}`;
    const client = this.#clients.get(each.trial);
    switch (each.do) {
      case "admit":
        await this.#admit(each.trial, each.worst);
        return;
      case "reap":
        await this.ledger.reap(attempt);
        return;
      case "die":
        this.#dead.add(attempt);
        this.#clients.delete(each.trial);
        return;
      case "stop":
        await this.ledger.stop({ kind: "cancelled", reason: "by hand" });
        return;
      case "end":
        await this.ledger.noteEnding({ trial: attempt, refusedByProvider: each.refused });
        return;
      case "call":
      case "settle":
      case "wait":
      case "turn":
      case "leave":
      case "give":
      case "close":
        if (client !== undefined) await this.#step(client, each);
    }
  }

  async #admit(order: number, least: number): Promise<void> {
    const attempt = `trial-${String(order)}`;
    const claim = order % 2 === 0 ? { token: attempt, holder: attempt } : null;
    const request = { order, claim, least: amountOf({ microUsd: least, rollouts: 1 }) };
    const admission = await this.ledger.admit(admitRequest(attempt, request));
    if (admission.kind !== "admitted" || this.#clients.has(order)) return;
    if (claim === null) {
      const claimed = await this.ledger.claim({ attempt, token: attempt, holder: attempt });
      if (claimed.kind !== "claimed") return;
    }
    if (this.#dead.has(attempt)) return;
    const owner = { open: admission.open, token: attempt, holder: attempt, trialCaps: NO_CAPS };
    this.#clients.set(order, new LeaseClient(this.ledger, owner));
  }

  async #step(client: LeaseClient, each: Act): Promise<void> {
    if (each.do === "call") {
      const call = String(this.#worst.size);
      this.#worst.set(call, each.worst);
      if (client.openCall(call, usd(each.worst)).kind !== "draw" || client.waits) return;
      const reply = await client.draw(call, usd(each.worst));
      if (reply.kind === "granted") client.openCall(call, usd(each.worst));
    } else if (each.do === "settle") {
      const reserved = this.#worst.get(String(each.call)) ?? 0;
      await client.settle(String(each.call), usd(Math.floor((reserved * each.percent) / 100)));
    } else if (each.do === "wait" && !client.waits) await client.wait(usd(each.worst));
    else if (each.do === "turn" && client.waits)
      await client.turn(usd(each.worst), { progress: "", ms: 0 });
    else if (each.do === "leave" && client.waits) await client.leave();
    else if (each.do === "give" && !client.waits) await client.giveBack();
    else if (each.do === "close") await client.close({ complete: true, unpriced: false });
  }
}

function state(store: MemoryLedgerStore): string {
  return JSON.stringify([...store.items]);
}

/** What a caller may be told for an act that makes no sense at that moment. */
async function tolerated(acting: Promise<void>): Promise<void> {
  try {
    await acting;
  } catch (error) {
    if (!(error instanceof BenchError) || error.kind === "unavailable") throw error;
  }
}

const RUNS = process.env["BENCH_TEST_SOAK"] === "1" ? 5000 : 200;

describe("any sequence of operations", () => {
  const acts = fc.array(act, { minLength: 5, maxLength: 80 });
  const start = fc.record({
    microUsd: fc.integer({ min: 30, max: 300 }),
    width: fc.constantFrom(1, 70),
  });

  test("keeps the pot in balance after each of them, and hands out no more than there is", async () => {
    await fc.assert(
      fc.asyncProperty(start, acts, async ({ microUsd, width }, sequence) => {
        const players = new Players();
        await players.open(microUsd, width);
        for (const each of sequence) {
          await tolerated(players.act(each));
          expect(isBalanced(players.store.items), JSON.stringify(each)).toBe(true);
        }
        const view = viewOf(players.store.items, "pot");
        const isIdle = view.shards.every(({ open }) => open === 0);
        // Only a cap lowered while the pot was idle leaves a debt, and then nobody has anything.
        const debts = view.shards.flatMap(({ remaining }) =>
          LEDGER_UNITS.filter((unit) => remaining[unit] < 0),
        );
        expect(debts.length === 0 || isIdle).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  test("changes nothing when all that happened is delivered once more, in any order", async () => {
    await fc.assert(
      fc.asyncProperty(
        start,
        acts,
        fc.infiniteStream(fc.nat()),
        async (opened, sequence, order) => {
          const players = new Players();
          await players.open(opened.microUsd, opened.width);
          for (const each of sequence) await tolerated(players.act(each));
          const { store } = players;
          const late = [...store.happened];
          const before = state(store);
          while (late.length > 0) {
            const at = (order.next().value ?? 0) % late.length;
            const [updates = []] = late.splice(at, 1);
            expect(store.apply(updates), JSON.stringify(updates)).toBe(false);
          }
          expect(state(store)).toBe(before);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test("changes nothing when each is delivered once more before the next", async () => {
    await fc.assert(
      fc.asyncProperty(start, acts, async ({ microUsd, width }, sequence) => {
        const players = new Players();
        await players.open(microUsd, width);
        const { store } = players;
        for (const each of sequence) {
          const from = store.happened.length;
          await tolerated(players.act(each));
          const before = state(store);
          for (const updates of store.happened.slice(from)) store.apply(updates);
          expect(state(store), JSON.stringify(each)).toBe(before);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
