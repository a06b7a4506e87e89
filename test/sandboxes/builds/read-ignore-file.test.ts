import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readIgnoreFile } from "../../../sandboxes/builds/read-ignore-file.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "ignore-file-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

describe("the rule file of a build context", () => {
  test("a context without one has none", () => {
    expect(readIgnoreFile(dir)).toBeNull();
  });

  test("the Dockerfile's own rule file wins over the general one", () => {
    writeFileSync(join(dir, ".dockerignore"), "general\n");
    writeFileSync(join(dir, "Dockerfile.dockerignore"), "own\n");
    expect(readIgnoreFile(dir)).toMatchObject({ name: "Dockerfile.dockerignore", text: "own\n" });
  });

  test.each([
    ["a link, though what it leads to could be read", () => symlinkSync("rules", path()), "a link"],
    ["a link to a device that never ends", () => symlinkSync("/dev/zero", path()), "a link"],
    ["a folder", () => mkdirSync(path()), "not a plain file"],
    ["a file of 2 MiB", () => writeFileSync(path(), "x".repeat(2 ** 21)), "at most 1 MiB"],
    ["a pattern that Docker refuses", () => writeFileSync(path(), "["), "malformed"],
  ])("%s fails the build and is never taken for none", (_, plant, reason) => {
    writeFileSync(join(dir, "rules"), "solution\n");
    plant();
    expect(() => readIgnoreFile(dir)).toThrow(
      expect.objectContaining({
        failure: "build-failed",
        message: expect.stringContaining(reason),
      }),
    );
  });
});

function path(): string {
  return join(dir, ".dockerignore");
}
