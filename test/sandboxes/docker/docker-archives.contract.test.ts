import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { archiveOf, entry } from "../../../sandboxes/contract/sample-archive.ts";
import { openDocker, type OpenDocker } from "./docker-fixture.ts";

let docker: OpenDocker;

beforeAll(async () => {
  docker = await openDocker("bench-base:debian");
});

afterEach(async () => {
  await docker.endCheck();
});

afterAll(async () => {
  await docker.close();
});

test("small archives are no work of the daemon's, large ones are", async () => {
  const sandbox = await docker.fixture.makeSandbox();
  const since = Date.now() / 1000;
  const archives = async (): Promise<number> => {
    const filters = JSON.stringify({
      container: [sandbox.id],
      event: ["extract-to-dir", "archive-path"],
    });
    const until = Date.now() / 1000;
    const query = `since=${String(since)}&until=${String(until)}&filters=${encodeURIComponent(filters)}`;
    return String(await docker.raw.call("GET", `/events?${query}`)).split("status").length - 1;
  };
  const send = async (sizeBytes: number): Promise<void> => {
    const content = Buffer.alloc(sizeBytes, "x");
    await sandbox.put(archiveOf([entry({ name: "file", content })]), "/in");
    for await (const chunk of sandbox.get("/in")) expect(chunk.byteLength).toBeGreaterThan(0);
  };
  await send(2000);
  expect(await archives()).toBe(0);
  await send(200_000);
  expect(await archives()).toBe(2);
});
