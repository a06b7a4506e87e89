import { randomUUID } from "node:crypto";
import type { DynamoDB } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AwsServices } from "../../aws/aws-services.ts";
import { ledgerContract } from "../../stores/ledger/contract/ledger-contract.ts";
import type { LedgerFixture } from "../../stores/ledger/contract/ledger-promise.ts";
import { storePromises } from "../../stores/ledger/contract/store-promises.ts";
import { DynamoLedgerStore } from "../../stores/ledger/dynamodb/dynamo-ledger-store.ts";
import { emulatedEnv } from "./emulated-account.ts";
import { type HarshProxy, startHarshProxy } from "./harsh-proxy.ts";

const TABLE = `bench-ledger-${randomUUID().slice(0, 8)}`;
/** The emulated table serves one request at a time. */
const LIMIT_MS = 300_000;
let calm: DynamoDB;

beforeAll(async () => {
  calm = await new AwsServices(emulatedEnv()).dynamoDb();
  await calm.createTable({
    TableName: TABLE,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: ["pk", "sk"].map((AttributeName) => ({
      AttributeName,
      AttributeType: "S" as const,
    })),
    KeySchema: [
      { AttributeName: "pk", KeyType: "HASH" },
      { AttributeName: "sk", KeyType: "RANGE" },
    ],
  });
});

/** Any number of handles on one table, and tasks that stop when they are told to. */
function tableFixture(client: DynamoDB): LedgerFixture {
  const stopped = new Set<string>();
  const started = new Set<string>();
  return {
    pot: `pot-${randomUUID()}`,
    openStore: async () => new DynamoLedgerStore(client, TABLE),
    deaths: {
      stateOf: async (holder) =>
        stopped.has(holder) ? "dead" : started.has(holder) ? "alive" : "unknown",
    },
    startHolder: async () => {
      const holder = `task-${randomUUID()}`;
      started.add(holder);
      return { holder, kill: async () => void stopped.add(holder) };
    },
    foreignHolder: "elsewhere",
  };
}

describe("the ledger in DynamoDB keeps its contract", () => {
  test.each(ledgerContract.map(({ promise, check }) => [promise, check] as const))(
    "%s",
    async (_promise, check) => {
      await check(tableFixture(calm));
    },
    LIMIT_MS,
  );
});

/** A store's bare promises include writes without a guard, which a lost answer may repeat. */
const GUARDED = ledgerContract.filter((promise) => !storePromises.includes(promise));
const isSoak = process.env["BENCH_TEST_SOAK"] !== undefined;

describe("with conflicts in 20% of writes and 5% of answers lost, the ledger keeps its contract", () => {
  let proxy: HarshProxy;
  let client: DynamoDB;
  beforeAll(async () => {
    const { AWS_ENDPOINT_URL: origin = "" } = emulatedEnv();
    proxy = await startHarshProxy({ origin, conflicts: 0.2, losses: 0.05 });
    client = await new AwsServices({ ...emulatedEnv(), AWS_ENDPOINT_URL: proxy.origin }).dynamoDb();
  });
  afterAll(() => {
    proxy.close();
  });

  test.for(GUARDED.map(({ promise, check }) => [promise, check] as const))(
    "%s",
    { timeout: LIMIT_MS },
    async ([promise, check], { skip }) => {
      const isLong = promise.startsWith("of 200");
      skip(isLong && !isSoak, "takes minutes on a bad line: the soak runs it");
      await check(tableFixture(client));
    },
  );

  test("and both happened", () => {
    expect(proxy.conflicts()).toBeGreaterThan(20);
    expect(proxy.losses()).toBeGreaterThan(2);
  });
});

test("a ledger that is not there stops spending at once, and says so", async () => {
  const store = new DynamoLedgerStore(calm, "bench-no-such-table");
  await expect(store.read(["pot/head"])).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("cannot read the ledger: ResourceNotFoundException"),
  });
});
