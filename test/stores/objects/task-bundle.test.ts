import { chmod, mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bytesOf } from "../../../stores/objects/object-body.ts";
import { packTask } from "../../../stores/objects/task-bundle.ts";
import { temporaryFolder } from "../files/store-builders.ts";

async function sampleTask(order: readonly string[]): Promise<string> {
  const dir = temporaryFolder();
  for (const name of order) {
    await mkdir(join(dir, name, "inner"), { recursive: true });
    await writeFile(join(dir, name, "inner/file.txt"), name);
  }
  await symlink("a/inner/file.txt", join(dir, "link"));
  return dir;
}

test("a bundle's bytes do not depend on the order of writing, on times or on who wrote", async () => {
  const [one, other] = [await sampleTask(["a", "b"]), await sampleTask(["b", "a"])];
  await utimes(join(other, "a/inner/file.txt"), 1, 1);
  const bundle = await packTask(one);
  expect(bundle.sha256).toBe((await packTask(other)).sha256);
  expect((await bytesOf({ bytes: bundle.open() })).length).toBe(bundle.sizeBytes);
});

test("content, executable bits and link targets change a bundle", async () => {
  const before = (await packTask(await sampleTask(["a"]))).sha256;
  const content = await sampleTask(["a"]);
  await writeFile(join(content, "a/inner/file.txt"), "b");
  const mode = await sampleTask(["a"]);
  await chmod(join(mode, "a/inner/file.txt"), 0o755);
  const link = temporaryFolder();
  await mkdir(join(link, "a/inner"), { recursive: true });
  await writeFile(join(link, "a/inner/file.txt"), "a");
  await symlink("a/inner/other.txt", join(link, "link"));
  const after = await Promise.all(
    [content, mode, link].map(async (dir) => (await packTask(dir)).sha256),
  );
  expect(new Set([before, ...after]).size).toBe(4);
});
