import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { setImmediate } from "node:timers/promises";
import { BenchError } from "../../../core/errors.ts";
import type { ItemUpdate, LedgerItem } from "../../../core/model/ledger-update.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import type { Deaths } from "../../../core/ports/ledger.ts";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";
import { MemoryLedgerStore } from "../../fakes/memory-ledger.ts";

/** How badly the world behaves, as shares of 1. */
export interface Weather {
  /** The answer to a write never comes and the client sends it again. */
  readonly lostAnswers: number;
  /** The client gives up on a write that happened. */
  readonly failures: number;
  /** A write arrives once more, up to a minute later. */
  readonly duplicates: number;
  /** A read of several items is not of one moment. */
  readonly tornReads: number;
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * Time, chance and the table, all in one thread: what happens next is drawn from the seed, so that any
 * interleaving of any number of processes can be had again.
 */
export class VirtualWorld {
  now = 0;
  readonly table = new MemoryLedgerStore();
  /** Called after each write that happened. */
  onWrite: () => void = () => undefined;
  /** Writes that happened, and those of them that had happened before. */
  writes = 0;
  readonly writesBySecond = new Map<number, number>();
  readonly doubled: (readonly ItemUpdate[])[] = [];
  readonly #done = new Set<readonly ItemUpdate[]>();
  readonly #generator: ReturnType<typeof xoroshiro128plus>;
  readonly #events: Event[] = [];
  #order = 0;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  int(low: number, high: number): number {
    return uniformInt(this.#generator, low, high);
  }

  happens(share: number): boolean {
    return share > 0 && this.int(0, 999_999) < share * 1_000_000;
  }

  at(delayMs: number, run: () => void): void {
    this.#order += 1;
    this.#push({ at: this.now + delayMs, order: this.#order, run });
  }

  /** Resolves after virtual time; never when the process has died by then. Rejects when aborted. */
  async pass(delayMs: number, process?: VirtualProcess, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        reject(signal?.reason as Error);
      };
      signal?.addEventListener("abort", abort);
      this.at(delayMs, () => {
        signal?.removeEventListener("abort", abort);
        if (process?.isDead !== true) resolve();
      });
    });
  }

  /** Runs until nothing is left to happen, or until the given time. */
  async run(untilMs: number): Promise<void> {
    for (;;) {
      await setImmediate();
      const event = this.#pop();
      if (event === undefined) return;
      if (event.at > untilMs) throw new Error(`the world goes on after ${String(untilMs)} ms`);
      this.now = event.at;
      event.run();
    }
  }

  /** The table's write, at one moment; a batch must never happen twice. */
  apply(updates: readonly ItemUpdate[]): boolean {
    const happened = this.table.apply(updates);
    if (!happened) return false;
    if (this.#done.has(updates)) this.doubled.push(updates);
    this.#done.add(updates);
    this.writes += 1;
    const second = Math.floor(this.now / 1000);
    this.writesBySecond.set(second, (this.writesBySecond.get(second) ?? 0) + 1);
    this.onWrite();
    return true;
  }

  #push(event: Event): void {
    const heap = this.#events;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (isBefore(heap[up] as Event, event)) break;
      heap[at] = heap[up] as Event;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#events;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && isBefore(heap[down + 1] as Event, heap[down] as Event))
        down += 1;
      if (isBefore(last, heap[down] as Event)) break;
      heap[at] = heap[down] as Event;
      at = down;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** A process that may die at any moment: what it waits for then never comes, what it sent may arrive. */
export class VirtualProcess {
  isDead = false;
  /** Set some time after the death: until then nobody can tell. */
  isProvenDead = false;
  readonly name: string;
  readonly #world: VirtualWorld;
  readonly #weather: Weather;

  constructor(world: VirtualWorld, name: string, weather: Weather) {
    this.#world = world;
    this.name = name;
    this.#weather = weather;
  }

  die(proofAfterMs: number): void {
    this.isDead = true;
    this.#world.at(proofAfterMs, () => {
      this.isProvenDead = true;
    });
  }

  get clock(): Clock {
    const world = this.#world;
    return {
      now: () => new Date(world.now),
      monotonicMs: () => world.now,
      sleptMs: () => 0,
      sleep: async (ms, signal) => await world.pass(ms, this, signal),
    };
  }

  get store(): LedgerStore {
    return {
      read: async (keys) => await this.#read(keys),
      write: async (updates) => await this.#write(updates),
      close: async () => await Promise.resolve(),
    };
  }

  async #read(keys: readonly string[]): Promise<readonly (LedgerItem | null)[]> {
    const world = this.#world;
    await world.pass(world.int(1, 10), this);
    if (!world.happens(this.#weather.tornReads)) return keys.map((key) => this.#item(key));
    const items: (LedgerItem | null)[] = [];
    for (const key of keys) {
      items.push(this.#item(key));
      await world.pass(world.int(0, 10), this);
    }
    return items;
  }

  #item(key: string): LedgerItem | null {
    return this.#world.table.items.get(key) ?? null;
  }

  async #write(updates: readonly ItemUpdate[]): Promise<boolean> {
    const world = this.#world;
    const { lostAnswers, failures, duplicates } = this.#weather;
    if (world.happens(duplicates)) world.at(world.int(1, 60_000), () => world.apply(updates));
    for (;;) {
      let happened = false;
      // On its way it arrives, whether its sender lives or not.
      await new Promise<void>((resolve) => {
        world.at(world.int(1, 10), () => {
          happened = world.apply(updates);
          resolve();
        });
      });
      await world.pass(world.int(1, 10), this);
      if (world.happens(failures))
        throw new BenchError("unavailable", "the table does not answer", { next: "wait" });
      if (!world.happens(lostAnswers)) return happened;
    }
  }
}

/** Deaths as the world knows them. */
export function virtualDeaths(processes: ReadonlyMap<string, VirtualProcess>): Deaths {
  return {
    stateOf: async (holder) => {
      await Promise.resolve();
      const process = processes.get(holder);
      if (process === undefined) return "unknown";
      if (process.isProvenDead) return "dead";
      return process.isDead ? "unknown" : "alive";
    },
  };
}
