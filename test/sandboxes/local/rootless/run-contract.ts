import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identifyProcess } from "../../../../host/process-identity.ts";
import { sandboxContract } from "../../../../sandboxes/contract/sandbox-contract.ts";
import { openFixture } from "../../../../sandboxes/contract/sandbox-fixture.ts";
import { skipReason } from "../../../../sandboxes/contract/sandbox-promise.ts";
import { LocalSandboxes } from "../../../../sandboxes/local/local-sandboxes.ts";
import { leftoversOf } from "../leftovers.ts";
import { runRequest } from "../requests.ts";

/** Checks every promise of the contract as whoever runs this, and prints a line of JSON for each. */
const stateDir = mkdtempSync(join(tmpdir(), "local-contract-"));
const backend = await LocalSandboxes.open({ stateDir, localInclude: [] });
const request = runRequest({ process: identifyProcess(), contextDir: stateDir, digest: "0" });
const image = await backend.prepare({
  ...request.image,
  source: { kind: "prebuilt", reference: "debian:bookworm" },
});
const open = openFixture({
  backend,
  image,
  owner: request.image.owner,
  leftovers: async (id) => leftoversOf(stateDir, id),
});
say({ caps: backend.caps });
for (const promise of sandboxContract) {
  const skipped = skipReason(promise, backend.caps);
  let broken: string | null = null;
  if (skipped === null)
    try {
      const { check } = promise;
      await check(open.fixture);
    } catch (error) {
      broken = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
  await open.endCheck();
  say({ promise: promise.promise, skipped, broken });
}
await open.close();
say({ left: (await backend.list()).map(({ id }) => id) });
await backend.close();

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
