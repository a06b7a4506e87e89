import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { identifyProcess } from "../../../host/process-identity.ts";
import { sandboxContract } from "../../../sandboxes/contract/sandbox-contract.ts";
import { type OpenFixture, openFixture } from "../../../sandboxes/contract/sandbox-fixture.ts";
import { type SandboxPromise, skipReason } from "../../../sandboxes/contract/sandbox-promise.ts";
import { NotInMemory } from "../../fakes/memory-sandboxes/memory-program.ts";
import { MemorySandboxes } from "../../fakes/memory-sandboxes/memory-sandboxes.ts";
import { runRequest } from "../local/requests.ts";

/** The promises that need neither a shell nor a wall: the fake holds them. */
const HELD: ReadonlySet<string> = new Set([
  "a program that is missing ends with 127, one that may not be run with 126",
  "the environment is exactly the one that the command gives",
  "a command without stdin reads an end at once",
  "50 MB go through a command's stdin and stdout intact",
  "output of exactly the cap is kept whole",
  "binary content and names that are no UTF-8 come back byte for byte",
  "put fails on an archive that is cut short",
  "a put that its reader cannot finish leaves the sandbox usable",
  "a listing shows each sandbox with its owner, who is alive, and when its lease ends",
  "renew moves the end of the lease",
  "every call to a sandbox that is gone fails as lost",
  "a sandbox of a process that has ended is listed as an orphan",
  "a creation that is aborted makes nothing",
]);

describe("the sandbox contract on the fake in memory", () => {
  const backend = new MemorySandboxes();
  let open: OpenFixture;

  beforeAll(async () => {
    const request = runRequest({
      process: identifyProcess(),
      contextDir: "/nowhere",
      digest: "0",
    });
    const { owner } = request.image;
    const source = { kind: "prebuilt", reference: "memory" } as const;
    const image = await backend.prepare({ ...request.image, source });
    const leftovers = async (id: string): Promise<string[]> => {
      const found = await backend.list();
      return found.filter((record) => record.id === id).map(() => `sandbox ${id}`);
    };
    open = openFixture({ backend, image, owner, leftovers });
  });

  afterEach(async () => {
    await open.endCheck();
  });

  afterAll(async () => {
    await open.close();
  });

  test.for(sandboxContract.filter(({ promise }) => HELD.has(promise)))(
    "$promise",
    async ({ check }) => {
      await check(open.fixture);
    },
  );

  test("every other promise is out of its reach, by a wall or a program that memory has not", async () => {
    const others = sandboxContract.filter(({ promise }) => !HELD.has(promise));
    expect(others).toHaveLength(sandboxContract.length - HELD.size);
    for (const promise of others) {
      const reason = skipReason(promise, backend.caps) ?? (await missingProgram(promise, open));
      expect([promise.promise, reason]).toEqual([promise.promise, expect.any(String)]);
      await open.endCheck();
    }
  });
});

/** The program that a promise cannot be checked without; null when it was checked. */
async function missingProgram(
  { check }: SandboxPromise,
  { fixture }: OpenFixture,
): Promise<string | null> {
  try {
    await check(fixture);
    return null;
  } catch (error) {
    if (error instanceof NotInMemory) return error.message;
    throw error;
  }
}
