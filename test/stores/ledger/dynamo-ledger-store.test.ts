import type { BatchGetItemCommandOutput, DynamoDB } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { DynamoLedgerStore } from "../../../stores/ledger/dynamodb/dynamo-ledger-store.ts";

const TABLE = "ledger";
const KEY = { pk: { S: "pot/head" }, sk: { S: "ledger" } };

/** A store whose table gives these answers in turn. */
function storeOf(answers: readonly Partial<BatchGetItemCommandOutput>[]) {
  let asked = 0;
  const client = {
    batchGetItem: async () => {
      asked += 1;
      return await Promise.resolve(answers[asked - 1]);
    },
  };
  return new DynamoLedgerStore(client as unknown as DynamoDB, TABLE, () => 0);
}

test("an item that is not in the table's list is not there", async () => {
  const store = storeOf([{ Responses: { [TABLE]: [] } }]);
  expect(await store.read(["pot/head"])).toEqual([null]);
});

test("what the table has not read yet is asked for again, list or no list", async () => {
  const store = storeOf([
    { UnprocessedKeys: { [TABLE]: { Keys: [KEY] } } },
    { Responses: { [TABLE]: [{ ...KEY, spent: { N: "5" } }] } },
  ]);
  expect(await store.read(["pot/head"])).toEqual([{ spent: 5 }]);
});

test.each([{}, { Responses: { other: [] } }])(
  "an answer without the table's list is no empty ledger: %j",
  async (answer) => {
    await expect(storeOf([answer]).read(["pot/head"])).rejects.toMatchObject({
      kind: "unavailable",
    });
  },
);
