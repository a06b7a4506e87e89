import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSmallFile } from "../../api/read-own-file.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "bench-own-text-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

test("a person's file is read through a link", async () => {
  await writeFile(join(dir, "file.json"), "{}");
  await symlink("file.json", join(dir, "link.json"));
  expect(await readSmallFile(join(dir, "link.json"))).toBe("{}");
});

test.for([
  [
    "a pipe that nobody writes into",
    (path: string) => execFileSync("mkfifo", [path]),
    "no plain file",
  ],
  ["a link to a device without an end", (path: string) => symlink("/dev/zero", path), "no plain"],
  ["a folder", (path: string) => mkdir(path), "it is a folder"],
  [
    "a link to a large file",
    async (path: string) => {
      await writeFile(`${path}.large`, "");
      await truncate(`${path}.large`, 1024 * 1024 + 1);
      await symlink(`${path}.large`, path);
    },
    "larger than 1048576 bytes",
  ],
] as const)("%s is refused at once", async ([, plant, why]) => {
  const path = join(dir, "planted");
  await plant(path);
  await expect(readSmallFile(path)).rejects.toThrow(why);
});
