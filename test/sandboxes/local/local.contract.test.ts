import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { identifyProcess } from "../../../host/process-identity.ts";
import { sandboxContract } from "../../../sandboxes/contract/sandbox-contract.ts";
import { type OpenFixture, openFixture } from "../../../sandboxes/contract/sandbox-fixture.ts";
import { skipReason } from "../../../sandboxes/contract/sandbox-promise.ts";
import { LocalSandboxes } from "../../../sandboxes/local/local-sandboxes.ts";
import { leftoversOf } from "./leftovers.ts";
import { runRequest } from "./requests.ts";

describe("the sandbox contract on local", () => {
  let stateDir: string;
  let backend: LocalSandboxes;
  let open: OpenFixture;

  beforeAll(async () => {
    stateDir = mkdtempSync(join(tmpdir(), "local-contract-"));
    backend = await LocalSandboxes.open({ stateDir, localInclude: [] });
    const request = runRequest({ process: identifyProcess(), contextDir: stateDir, digest: "0" });
    const { owner } = request.image;
    const source = { kind: "prebuilt", reference: "debian:bookworm" } as const;
    const image = await backend.prepare({ ...request.image, source });
    open = openFixture({
      backend,
      image,
      owner,
      leftovers: async (id) => leftoversOf(stateDir, id),
    });
  });

  afterEach(async () => {
    await open.endCheck();
  });

  afterAll(async () => {
    await open.close();
    await backend.close();
    rmSync(stateDir, { recursive: true });
  });

  test.for(sandboxContract)("$promise", async (promise, context) => {
    const reason = skipReason(promise, backend.caps);
    if (reason !== null) context.skip(reason);
    const { check } = promise;
    await check(open.fixture);
  });

  test("nothing is left when every check has ended but the shared sandbox", async () => {
    const { id } = await open.fixture.sharedSandbox();
    expect((await backend.list()).map((record) => record.id)).toEqual([id]);
  });
});
