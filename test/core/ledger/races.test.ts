import { describe, expect, test } from "vitest";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { LeaseClient } from "../../../core/ledger/lease-client.ts";
import { sumPot } from "../../../core/ledger/sum-pot.ts";
import type { ItemUpdate } from "../../../core/model/ledger-update.ts";
import type { Ledger } from "../../../core/ports/ledger.ts";
import { MemoryLedgerStore } from "../../fakes/memory-ledger.ts";
import { isBalanced } from "./inspect-table.ts";
import { admit, admitRequest, ledgerOn, openedOn, usd } from "./ledger-builders.ts";

/** Lets somebody else act between the reading that a decision is made on and its write. */
class InterruptedStore extends MemoryLedgerStore {
  interrupt: (() => Promise<unknown>) | null = null;
  #did = "";

  /** The next write that does this (`turn`, `admit` …) comes too late. */
  before(did: string, act: () => Promise<unknown>): void {
    this.#did = did;
    this.interrupt = act;
  }

  override async write(updates: readonly ItemUpdate[]): Promise<boolean> {
    const act = this.interrupt;
    if (act !== null && JSON.stringify(updates).includes(`"${this.#did}"`)) {
      this.interrupt = null;
      await act();
    }
    return await super.write(updates);
  }
}

async function client(ledger: Ledger, attempt: string, order: number): Promise<LeaseClient> {
  const open = await admit(ledger, attempt, { order });
  const owner = { open, token: attempt, holder: attempt, trialCaps: NO_CAPS };
  return new LeaseClient(ledger, owner);
}

/** A trial whose lease lies in that shard: names draw their shards. */
async function clientIn(ledger: Ledger, shard: number, order: number): Promise<LeaseClient> {
  for (let name = 0; ; name += 1) {
    const attempt = `trial-${String(order)}-${String(name)}`;
    const open = await admit(ledger, attempt, { order });
    const owner = { open, token: attempt, holder: attempt, trialCaps: NO_CAPS };
    const found = new LeaseClient(ledger, owner);
    if (open.shard === shard) return found;
    await found.close(CLOSED);
  }
}

const CLOSED = { complete: true, unpriced: false };
const SEEN = { progress: "", ms: 0 };

async function pot(
  microUsd: number,
  width: number,
): Promise<{ store: InterruptedStore; ledger: Ledger }> {
  const store = new InterruptedStore();
  return { store, ledger: await openedOn(store, { microUsd }, width) };
}

describe("a decision that comes too late is made again", () => {
  test("a turn whose money an older trial took meanwhile", async () => {
    const { store, ledger } = await pot(100, 1);
    const [rich, old, young] = [
      await client(ledger, "rich", 0),
      await client(ledger, "old", 1),
      await client(ledger, "young", 2),
    ];
    await rich.draw("1", usd(90));
    await young.wait(usd(60));
    await rich.giveBack();
    store.before("turn", async () => {
      expect((await old.draw("1", usd(80))).kind).toBe("granted");
    });
    expect((await young.turn(usd(60), SEEN)).kind).toBe("waiting");
    expect(sumPot(await ledger.view()).remaining.microUsd).toBe(20);
  });

  test("a draw from several shards whose donor has spent its part", async () => {
    const { store, ledger } = await pot(100, 64);
    const [one, two] = [await clientIn(ledger, 0, 0), await clientIn(ledger, 1, 1)];
    store.before("draw", async () => {
      store.before("draw", async () => {
        expect((await two.draw("1", usd(40))).kind).toBe("granted");
      });
      await Promise.resolve();
    });
    // The first try asks its own shard, the second one both.
    expect((await one.draw("1", usd(90))).kind).toBe("short");
    expect((await one.draw("1", usd(60))).kind).toBe("granted");
    expect(sumPot(await ledger.view()).remaining.microUsd).toBe(0);
  });

  test("an admission whose money went to another trial", async () => {
    const { store, ledger } = await pot(100, 64);
    const request = admitRequest("late", { least: { ...usd(45), rollouts: 1 } });
    store.before("attempt", async () => {
      const other = await client(ledgerOn(store), "other", 0);
      expect((await other.draw("1", usd(70))).kind).toBe("granted");
    });
    expect(await ledger.admit(request)).toEqual({ kind: "wait", why: "width" });
    expect(sumPot(await ledger.view()).earmarked.microUsd).toBe(0);
  });

  test("an admission into a pot that was stopped meanwhile, or in which one began to wait", async () => {
    const stopped = await pot(100, 1);
    stopped.store.before("attempt", async () => {
      await stopped.ledger.stop({ kind: "cancelled", reason: "by hand" });
    });
    expect((await stopped.ledger.admit(admitRequest("late"))).kind).toBe("stopped");
    const short = await pot(100, 1);
    const waiter = await client(short.ledger, "waiter", 0);
    short.store.before("attempt", async () => await waiter.wait(usd(10)));
    expect(await short.ledger.admit(admitRequest("late"))).toEqual({ kind: "wait", why: "short" });
  });

  test("a gathering whose donors have spent meanwhile", async () => {
    const { store, ledger } = await pot(100, 64);
    const [one, two] = [await clientIn(ledger, 0, 0), await clientIn(ledger, 1, 1)];
    await two.draw("1", usd(20));
    await one.wait(usd(90));
    store.before("gather", async () => {
      expect((await two.draw("2", usd(30))).kind).toBe("granted");
    });
    const reply = await one.turn(usd(90), SEEN);
    expect(["waiting", "gathered"]).toContain(reply.kind);
    expect(isBalanced(store.items)).toBe(true);
    const { shards } = await ledger.view();
    expect(shards.every(({ remaining }) => remaining.microUsd >= 0)).toBe(true);
  });

  test("the return of a dead one's money while its last step arrives", async () => {
    const store = new InterruptedStore();
    await openedOn(store, { microUsd: 100 }, 1);
    const ledger = ledgerOn(store, { stateOf: async () => await Promise.resolve("dead") });
    const one = await client(ledger, "one", 0);
    await one.draw("1", usd(10));
    store.before("reaped", async () => {
      one.openCall("1", usd(10));
      await one.draw("2", usd(30));
    });
    const reply = await ledger.reap("one");
    expect(reply).toMatchObject({ kind: "returned", spent: { microUsd: 40 } });
    expect(sumPot(await ledger.view()).remaining.microUsd).toBe(60);
  });

  test("the return of a lease that its runner closes itself", async () => {
    const store = new InterruptedStore();
    await openedOn(store, { microUsd: 100 }, 1);
    const ledger = ledgerOn(store, { stateOf: async () => await Promise.resolve("dead") });
    const one = await client(ledger, "one", 0);
    store.before("reaped", async () => await one.close(CLOSED));
    expect(await ledger.reap("one")).toEqual({ kind: "gone" });
    expect(isBalanced(store.items)).toBe(true);
  });

  test("the return of an unclaimed lease that its runner claims in that moment", async () => {
    const { store, ledger } = await pot(100, 1);
    const claim = { attempt: "one", token: "runner", holder: "somewhere" };
    await admit(ledger, "one", { claim: null });
    store.before("unclaimed", async () => {
      expect((await ledger.claim(claim)).kind).toBe("claimed");
    });
    expect(await ledger.reap("one")).toEqual({
      kind: "held",
      holder: "somewhere",
      state: "unknown",
    });
  });

  test("a cap that is lowered while a trial takes what remained", async () => {
    const { store, ledger } = await pot(100, 64);
    const one = await client(ledger, "one", 0);
    store.before("caps", async () => {
      expect((await one.draw("1", usd(45))).kind).toBe("granted");
    });
    await openedOn(store, { microUsd: 50 }, 64);
    expect(sumPot(await ledger.view()).remaining.microUsd).toBe(5);
    expect(isBalanced(store.items)).toBe(true);
  });

  test("two commands that change the caps at once: the later one wins, whole", async () => {
    const { store, ledger } = await pot(100, 64);
    store.before("caps", async () => await openedOn(store, { microUsd: 300 }, 64));
    await openedOn(store, { microUsd: 200 }, 64);
    const view = await ledger.view();
    expect(view.head.caps.microUsd).toBe(200);
    expect(sumPot(view).remaining.microUsd).toBe(200);
  });

  test("endings that two runners tell of at once are both counted", async () => {
    const { store, ledger } = await pot(100, 1);
    const tell = async (trial: string): Promise<void> =>
      await ledger.noteEnding({ trial, refusedByProvider: true });
    store.before("refused", async () => await tell("two"));
    await tell("one");
    expect((await ledger.view()).head.breaker.refused.toSorted()).toEqual(["one", "two"]);
  });

  test("a trial that moves while it is told to end goes on", async () => {
    const { store, ledger } = await pot(100, 1);
    const [old, young] = [await client(ledger, "old", 0), await client(ledger, "young", 1)];
    await young.draw("1", usd(60));
    await old.wait(usd(90));
    const seen = await old.turn(usd(90), SEEN);
    if (seen.kind !== "waiting") throw new Error(seen.kind);
    young.openCall("1", usd(60));
    store.before("ending", async () => await young.giveBack());
    const stalled = { progress: seen.progress, ms: 60_000 };
    expect((await old.turn(usd(90), stalled)).kind).toBe("waiting");
    expect((await young.check()).kind).toBe("go-on");
  });

  test("a turn that gathered money and is sent again leases none", async () => {
    const { ledger } = await pot(100, 64);
    const { attempt, shard, lease } = await admit(ledger, "one");
    const holder = await clientIn(ledger, 1 - shard, 1);
    await holder.draw("1", usd(20));
    const step = { attempt, shard, token: attempt };
    const nothing = usd(0);
    const given = { settle: nothing, giveEarmark: lease.earmarked, giveLeased: nothing };
    await ledger.wait({ ...step, ...given, seq: 1, wants: usd(90) });
    const turn = { ...step, seq: 2, take: usd(90), need: usd(90), stalled: SEEN };
    expect((await ledger.turn(turn)).kind).toBe("gathered");
    expect((await ledger.turn(turn)).kind).toBe("gathered");
    await holder.close(CLOSED);
    expect((await ledger.turn({ ...turn, seq: 3 })).kind).toBe("granted");
    // Sent late, the first one still gives nobody the right to spend.
    expect((await ledger.turn(turn)).kind).toBe("gathered");
    const { leased } = sumPot(await ledger.view());
    expect(leased.microUsd).toBe(90);
  });
});

test("an operation whose writes never happen ends with an error, and not in a loop", async () => {
  const store = new MemoryLedgerStore();
  const ledger = await openedOn(store, { microUsd: 100 }, 64);
  const one = await client(ledger, "one", 0);
  const all = ledgerOn(store, { stateOf: async () => await Promise.resolve("dead") });
  store.write = async () => await Promise.resolve(false);
  const busy = /too busy/u;
  await expect(openedOn(store, { microUsd: 200 }, 64)).rejects.toThrow(busy);
  await expect(openedOn(store, { microUsd: 100 }, 128)).rejects.toThrow(busy);
  await expect(all.reap("one")).rejects.toThrow(busy);
  await expect(one.giveBack()).rejects.toThrow(busy);
  const ending = { trial: "one", refusedByProvider: true };
  await expect(ledger.noteEnding(ending)).rejects.toThrow(busy);
  // A trial that wants to start may simply ask again.
  expect((await ledger.admit(admitRequest("two"))).kind).toBe("wait");
});
