import { describe, test } from "vitest";
import { objectStoreContract } from "../../../stores/contract/object-store-contract.ts";
import { MemoryObjects } from "../../fakes/memory-objects.ts";

describe("objects in memory", () => {
  test.each([...objectStoreContract])("$promise", async ({ check }) => {
    await check(new MemoryObjects(), "runs/demo/");
  });
});
