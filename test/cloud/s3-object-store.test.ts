import { beforeAll, describe, expect, test } from "vitest";
import { openS3 } from "../../api/cloud/cloud-account.ts";
import { objectStoreContract } from "../../stores/contract/object-store-contract.ts";
import { S3ObjectStore } from "../../stores/s3/s3-object-store.ts";
import { emptyBucket, emulatedEnv } from "./emulated-account.ts";

describe("objects in an S3 bucket", () => {
  let store: S3ObjectStore;
  beforeAll(async () => {
    store = await emptyBucket("bench-object-contract");
  });

  test.each([...objectStoreContract.entries()])(
    "%s: $promise",
    async (index, { promise, check }) => {
      expect(promise).not.toBe("");
      await check(store, `${Date.now()}-${index}/`);
    },
  );

  test("a bucket that is not there is told with the command that makes it", async () => {
    const none = new S3ObjectStore(openS3(emulatedEnv()), "bench-no-such-bucket");
    await expect(none.open("key")).rejects.toThrow("there is no bucket bench-no-such-bucket");
  });
});
