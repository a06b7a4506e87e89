import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readTar } from "../../../core/tar/read-tar.ts";
import { encodeHeader } from "../../../core/tar/write-tar.ts";

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

// A file whose name is cut at a slash in its own header; its content is a header of the agent's.
test("a file with a long name is never taken for a folder, so its content is never read as headers", async () => {
  const dir = mkdtempSync(join(tmpdir(), "bench-tar-"));
  onTestFinished(() => {
    rmSync(dir, { recursive: true });
  });
  const forged = encodeHeader({
    kind: "file",
    name: Buffer.from("trees/reward.txt"),
    mode: 0o644,
    uid: 0,
    gid: 0,
    sizeBytes: 0,
    mtimeSeconds: 0,
    linkName: new Uint8Array(),
  });
  for (let depth = 40; depth <= 60; depth += 1) {
    const folder = join(dir, "trees", "d/".repeat(depth));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "deep"), forged);
  }
  const archive = execFileSync("tar", ["-C", dir, "-cf", "-", "trees"]);
  const names: string[] = [];
  for await (const { header } of readTar(oneChunk(archive))) {
    expect(header.kind === "file").toBe(Buffer.from(header.name).toString().endsWith("deep"));
    names.push(Buffer.from(header.name).toString());
  }
  expect(names).toHaveLength(61 + 21);
  expect(names.filter((name) => name.endsWith("reward.txt"))).toEqual([]);
});
