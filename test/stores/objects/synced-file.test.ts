import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sha256Hex } from "../../../host/sha256-hex.ts";
import { hashOfFile } from "../../../stores/objects/synced-file.ts";

let dir = "";

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "bench-synced-"));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

test("a file has a hash; what is missing, lies below a file or is a link has none", async () => {
  writeFileSync(join(dir, "file"), "content");
  symlinkSync("file", join(dir, "link"));
  expect(await hashOfFile(join(dir, "file"))).toBe(sha256Hex("content"));
  for (const name of ["missing", "file/below", "link", "."])
    expect(await hashOfFile(join(dir, name))).toBeNull();
});

test("a file that the disk does not tell of is no missing one", async () => {
  await expect(hashOfFile(join(dir, "x".repeat(300)))).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringMatching(/^cannot look at .*: the name is too long$/u),
  });
});
