import { setTimeout as delay } from "node:timers/promises";
import type { AttributeValue, DynamoDB } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import * as z from "zod";
import { awsFailure, refusalOf } from "../../../aws/aws-error.ts";
import { BenchError } from "../../../core/errors.ts";
import { checkUpdates } from "../../../core/ledger/apply-update.ts";
import { type ItemUpdate, LedgerItem } from "../../../core/model/ledger-update.ts";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";
import { updateExpression } from "./update-expression.ts";

/** BatchGetItem takes no more. */
const READ_KEYS = 100;
/** Racing writes of one item, and a table that grows: together some ten seconds, then spending stops. */
const MAX_TRIES = 12;
const FIRST_WAIT_MS = 20;
const MAX_WAIT_MS = 2000;
/** Of the table's key; the items' own fields have other names. */
const KEY_FIELDS: ReadonlySet<string> = new Set(["pk", "sk"]);
const SORT_KEY = "ledger";

/** Reasons of a transaction that may happen when it is asked for again. */
const RACES: ReadonlySet<string> = new Set([
  "TransactionConflict",
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
]);

/** Why a transaction did not happen, one reason an item (API reference, TransactWriteItems). */
const Cancelled = z.object({
  CancellationReasons: z.array(z.object({ Code: z.string().optional() })),
});

/**
 * A ledger in a DynamoDB table with the keys `pk` and `sk`, for any number of runners. An answer that is
 * lost is asked for again, and then says of a write that happened that its condition does not hold: every
 * update of the ledger has a guard that can hold once, so whoever reads on finds what was written.
 * Throws `BenchError` (`unavailable`) when the table does not answer in some ten seconds.
 */
export class DynamoLedgerStore implements LedgerStore {
  readonly #client: DynamoDB;
  readonly #table: string;
  /** A number from 0 up to 1; so that those who were turned away together do not come back together. */
  readonly #draw: () => number;

  constructor(client: DynamoDB, table: string, draw: () => number = Math.random) {
    this.#client = client;
    this.#table = table;
    this.#draw = draw;
  }

  async read(keys: readonly string[]): Promise<readonly (LedgerItem | null)[]> {
    const found = new Map<string, LedgerItem>();
    const asked = [...new Set(keys)];
    for (let start = 0; start < asked.length; start += READ_KEYS)
      for (const [key, item] of await this.#readBatch(asked.slice(start, start + READ_KEYS)))
        found.set(key, item);
    return keys.map((key) => found.get(key) ?? null);
  }

  async write(updates: readonly ItemUpdate[]): Promise<boolean> {
    checkUpdates(updates);
    const [first, ...others] = updates.map((update) => this.#update(update));
    if (first === undefined) return true;
    return await this.#retried("write to the ledger", async () => {
      try {
        if (others.length === 0) await this.#client.updateItem(first);
        else
          await this.#client.transactWriteItems({
            TransactItems: [first, ...others].map((Update) => ({ Update })),
          });
        return true;
      } catch (error) {
        if (turnedAway(error) === "condition") return false;
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    // The client is the caller's, who may have other tables.
  }

  #update(update: ItemUpdate) {
    const taken = update.changes.find(({ path }) => KEY_FIELDS.has(path[0] ?? ""));
    if (taken !== undefined)
      throw new BenchError(
        "bug",
        `ledger update has a field of the table's key: ${taken.path[0]}`,
        {
          next: "report this with the command that was run",
        },
      );
    return { TableName: this.#table, Key: keyOf(update.key), ...updateExpression(update) };
  }

  async #readBatch(keys: readonly string[]): Promise<ReadonlyMap<string, LedgerItem>> {
    const found = new Map<string, LedgerItem>();
    let left: Record<string, AttributeValue>[] = keys.map(keyOf);
    await this.#retried("read the ledger", async () => {
      const answer = await this.#client.batchGetItem({
        RequestItems: { [this.#table]: { Keys: left, ConsistentRead: true } },
      });
      const items = answer.Responses?.[this.#table];
      const unread = answer.UnprocessedKeys?.[this.#table]?.Keys ?? [];
      // An item that is not there is told by a list without it: no list tells nothing.
      if (items === undefined && unread.length < left.length) throw noItems(this.#table);
      for (const item of items ?? []) {
        const { pk, sk: _sk, ...fields } = unmarshall(item);
        found.set(z.string().parse(pk), LedgerItem.parse(fields));
      }
      left = unread;
      if (left.length > 0) throw new Unprocessed();
    });
    return found;
  }

  /** Tries again what races turned away, with growing, random waits; the SDK does so for lost answers. */
  async #retried<Answer>(doing: string, ask: () => Promise<Answer>): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask();
      } catch (error) {
        if (tries === MAX_TRIES || turnedAway(error) !== "race") throw awsFailure(error, doing);
      }
      await delay(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries) * this.#draw());
    }
  }
}

/** The table did not read all of a batch, because it grows. */
class Unprocessed extends Error {
  override readonly name = "Unprocessed";

  constructor() {
    super("the table reads too slowly");
  }
}

function noItems(table: string): BenchError {
  return new BenchError(
    "unavailable",
    `cannot read the ledger: no items of table ${table} in the answer`,
    {
      next: "run the same command again",
    },
  );
}

function keyOf(key: string): Record<string, AttributeValue> {
  return { pk: { S: key }, sk: { S: SORT_KEY } };
}

/** Why a request did not happen: a condition of it does not hold, or others were faster; null for all else. */
function turnedAway(error: unknown): "condition" | "race" | null {
  if (error instanceof Unprocessed) return "race";
  const code = refusalOf(error)?.code;
  if (code === "ConditionalCheckFailedException") return "condition";
  if (code === "TransactionConflictException" || code === "TransactionInProgressException")
    return "race";
  const cancelled = Cancelled.safeParse(error);
  if (code !== "TransactionCanceledException" || !cancelled.success) return null;
  const reasons = cancelled.data.CancellationReasons.map(({ Code }) => Code);
  if (reasons.includes("ConditionalCheckFailed")) return "condition";
  return reasons.some((reason) => RACES.has(reason ?? "")) ? "race" : null;
}
