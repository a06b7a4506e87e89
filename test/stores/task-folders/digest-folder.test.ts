import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  digestContext,
  digestFolder,
  digestHashes,
} from "../../../stores/task-folders/digest-folder.ts";
import { readTaskFiles } from "../../../stores/task-folders/read-task-files.ts";
import { tempFolder, writeFiles } from "./temp-tasks.ts";

interface Vectors {
  digest: { files: Record<string, string>; ignored?: Record<string, string>; digest: string }[];
  digest_from_hashes: {
    file_hashes: Record<string, string>;
    digest?: string;
    task_digest?: string;
  }[];
}

const path = new URL("../../fixtures/digest-wilson-passk.json", import.meta.url);
const vectors = JSON.parse(readFileSync(path, "utf8")) as Vectors;

test.each(vectors.digest)(
  "a folder has the digest that BenchFlow gives it: $digest",
  async (vector) => {
    const dir = await tempFolder();
    await writeFiles(dir, {
      ...vector.files,
      ...vector.ignored,
      "tests/link.md": "->../task.toml",
      "empty/": "",
    });
    expect(await digestFolder(dir)).toBe(vector.digest);
  },
);

test("the 22 recorded file hashes of a real task give its recorded digest", () => {
  const [vector] = vectors.digest_from_hashes;
  const hashes = Object.entries(vector?.file_hashes ?? {});
  expect(hashes).toHaveLength(22);
  const bare = new Map(hashes.map(([file, hash]) => [file, hash.replace("sha256:", "")]));
  expect(digestHashes(bare)).toBe(
    "sha256:46f853b5cb21b78f027d86667d8d098ef696a7ad6654df88d5a40d7b01323f7b",
  );
});

test("the order in which files are found does not matter", () => {
  const aHash = fc.string().map((text) => createHash("sha256").update(text).digest("hex"));
  const someFiles = fc.uniqueArray(fc.tuple(fc.string({ unit: "grapheme", minLength: 1 }), aHash), {
    selector: ([name]) => name,
  });
  fc.assert(
    fc.property(someFiles, (files) => {
      const expected = createHash("sha256");
      const inOrder = files.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      for (const [name, hash] of inOrder) expected.update(`${name}\0`).update(hash, "hex");
      expect(digestHashes(new Map(files))).toBe(`sha256:${expected.digest("hex")}`);
      expect(digestHashes(new Map(files.toReversed()))).toBe(digestHashes(new Map(files)));
    }),
  );
});

test("modes and times do not count, names and bytes do", async () => {
  const dir = await writeFiles(await tempFolder(), { a: "1", "b/c": "2" });
  const before = await digestFolder(dir);
  await chmod(join(dir, "a"), 0o777);
  await utimes(join(dir, "a"), 1, 1);
  expect(await digestFolder(dir)).toBe(before);
  await rename(join(dir, "a"), join(dir, "d"));
  const renamed = await digestFolder(dir);
  await writeFile(join(dir, "d"), "1\r\n");
  expect(new Set([before, renamed, await digestFolder(dir)]).size).toBe(3);
});

test("a folder that is not there is an error", async () => {
  await expect(digestFolder("/nonexistent/x")).rejects.toMatchObject({
    kind: "config",
    message: "no folder at /nonexistent/x",
  });
});

const CONTEXT = {
  "environment/Dockerfile": "FROM a\n",
  "environment/data/x": "1",
  "environment/run.sh": "#!/bin/sh\n",
  "environment/.dockerignore": "notes/\nDockerfile\n",
  "environment/notes/n": "1",
  "environment/link": "->data/x",
  "tests/test.sh": "1",
};

async function contextOf(files: Record<string, string>, change?: (dir: string) => Promise<void>) {
  const dir = await writeFiles(await tempFolder(), files);
  await change?.(dir);
  return digestContext(await readTaskFiles(dir), "environment");
}

test("the context digest counts what a build sees and nothing else", async () => {
  const before = await contextOf(CONTEXT);
  expect(await contextOf({ ...CONTEXT, "tests/test.sh": "2", "environment/notes/n": "2" })).toBe(
    before,
  );
  const others = [
    contextOf({ ...CONTEXT, "environment/data/x": "2" }),
    contextOf({ ...CONTEXT, "environment/Dockerfile": "FROM b\n" }),
    contextOf({ ...CONTEXT, "environment/link": "->data/y" }),
    contextOf({ ...CONTEXT, "environment/link": "data/x" }),
    contextOf({ ...CONTEXT, "environment/empty/": "" }),
    contextOf(CONTEXT, (dir) => chmod(join(dir, "environment/run.sh"), 0o644)),
    contextOf({ ...CONTEXT, "environment/Dockerfile.dockerignore": "" }),
  ];
  expect(new Set([before, ...(await Promise.all(others))]).size).toBe(8);
});
