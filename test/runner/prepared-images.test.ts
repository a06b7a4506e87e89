import { expect, test } from "vitest";
import { SandboxError, type SandboxFailure } from "../../core/ports/sandbox.ts";
import { PreparedImages } from "../../runner/prepared-images.ts";
import { MemorySandboxes } from "../fakes/memory-sandboxes/memory-sandboxes.ts";

/** How often a backend is asked for an image that three trials want one after another. */
async function askedAfter(failure: SandboxFailure): Promise<number> {
  const backend = new MemorySandboxes();
  let asked = 0;
  backend.beforePrepare = () => {
    asked += 1;
    throw new SandboxError(failure, "why");
  };
  const images = new PreparedImages(backend, 2);
  for (let trial = 0; trial < 3; trial += 1) {
    const prepared = images.prepare({
      source: { kind: "dockerfile", contextDigest: "sha256:1" },
      contextDir: "/nowhere",
      baseImageMap: {},
      timeoutMs: 1000,
      limits: { cpus: 1, memoryMb: 64, storageMb: 64, pids: 64 },
      owner: { runId: "r", jobName: "j", rolloutName: `t${trial}`, process: "p", leaseMs: 1000 },
      signal: new AbortController().signal,
      onLine: () => undefined,
    });
    await expect(prepared).rejects.toMatchObject({ failure, message: "why" });
  }
  return asked;
}

test("a context that builds nothing is built once, whoever asks for it later", async () => {
  expect(await askedAfter("build-failed")).toBe(1);
  expect(await askedAfter("unsupported")).toBe(1);
});

test("a build that was lost is tried again for the next that asks", async () => {
  expect(await askedAfter("build-lost")).toBe(3);
  expect(await askedAfter("backend-unavailable")).toBe(3);
  expect(await askedAfter("build-timeout")).toBe(3);
});
