import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readTar } from "../../../core/tar/read-tar.ts";
import type { TarSource } from "../../../core/tar/write-tar.ts";
import { type FrozenLimits, freezeWorkspace } from "../../../runner/verifier/freeze-workspace.ts";
import { restoreWorkspace } from "../../../runner/verifier/restore-workspace.ts";
import { FROZEN_LIMITS, FrozenManifest } from "../../../runner/verifier/workspace-archive.ts";
import { type AttemptFiles, attemptFiles } from "./attempt-files.ts";
import { entry, root, ScriptedSandbox } from "./scripted-sandbox.ts";

const BINARY = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 251));

const WORK: readonly TarSource[] = [
  root("app"),
  entry("app/answer.txt", { content: "42\n", mode: 0o640, uid: 10_001, gid: 10_001 }),
  entry("app/empty", { mode: 0o4755 }),
  entry("app/data", { kind: "directory", mode: 0o1777 }),
  entry("app/data/big", { content: BINARY }),
  entry(Buffer.from("app/data/\xff\n", "latin1"), { content: "odd" }),
  entry("app/link", { kind: "symlink", linkName: "/etc/passwd" }),
  entry("app/twin", { kind: "hardlink", linkName: "app/answer.txt" }),
];

async function frozen(): Promise<AttemptFiles> {
  const sandbox = new ScriptedSandbox();
  sandbox.trees.set("/app", WORK);
  sandbox.trees.set("/logs/artifacts", [root("artifacts"), entry("artifacts/a", { content: "A" })]);
  const files = await attemptFiles();
  const result = await freezeWorkspace(sandbox, "/app", files.folder);
  expect(result).toMatchObject({ saved: true, entries: 10 });
  return files;
}

function restore(files: AttemptFiles, sandbox: ScriptedSandbox): Promise<void> {
  return restoreWorkspace(sandbox, files.folder, {
    rolloutName: files.folder.rolloutName,
    workdir: "/work",
    signal: new AbortController().signal,
  });
}

async function entriesOf(archive: Uint8Array): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  for await (const { header, content } of readTar(oneChunk(archive))) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    const hash = createHash("sha256").update(Buffer.concat(chunks)).digest("hex").slice(0, 8);
    const name = Buffer.from(header.name).toString("latin1").replace(/\/$/u, "");
    const link = Buffer.from(header.linkName).toString("latin1");
    seen[name] = `${header.kind} ${header.mode.toString(8)} ${header.uid} ${hash} ${link}`;
  }
  return seen;
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

test("the manifest lists every entry with its mode, and files with size and hash", async () => {
  const files = await frozen();
  const manifest = FrozenManifest.parse(JSON.parse(files.text("evidence/manifest.json")));
  expect(manifest.workdir).toBe("/app");
  expect(manifest.entries.map(({ path, type, mode }) => `${path} ${type} ${mode}`)).toEqual([
    "workspace directory 0755",
    "workspace/answer.txt file 0640",
    "workspace/empty file 4755",
    "workspace/data directory 1777",
    "workspace/data/big file 0644",
    "workspace/data/=FF\n file 0644",
    "workspace/link symlink 0644",
    "workspace/twin hardlink 0644",
    "artifacts directory 0755",
    "artifacts/a file 0644",
  ]);
  expect(manifest.entries[4]).toMatchObject({
    size: BINARY.length,
    sha256: createHash("sha256").update(BINARY).digest("hex"),
  });
  expect(manifest.entries[6]).toMatchObject({ target: "/etc/passwd" });
});

test("what was frozen goes into a fresh sandbox entry for entry, byte for byte", async () => {
  const files = await frozen();
  const sandbox = new ScriptedSandbox();
  sandbox.execs.push({ prints: "done \0" });
  await restore(files, sandbox);
  expect(sandbox.puts.map(({ dir }) => dir)).toEqual(["/work", "/logs/artifacts"]);
  const before = await entriesOf(gunzipSync(files.bytes("evidence/workspace.tar.gz")));
  const after = await entriesOf(sandbox.puts[0]?.bytes ?? Buffer.alloc(0));
  const expected = Object.entries(before)
    .filter(([name]) => name.startsWith("workspace/"))
    .map(([name, what]) => [name.slice(10), what.replace("workspace/answer.txt", "answer.txt")]);
  expect(after).toEqual(Object.fromEntries(expected));
  expect(Object.keys(after)).toHaveLength(7);
});

test("a saved workspace that was changed since is refused, not verified", async () => {
  const files = await frozen();
  const manifest = JSON.parse(files.text("evidence/manifest.json"));
  manifest.entries[1].sha256 = "0".repeat(64);
  await files.folder.write("evidence/manifest.json", JSON.stringify(manifest));
  const sandbox = new ScriptedSandbox();
  await expect(restore(files, sandbox)).rejects.toThrow(
    "workspace/answer.txt is not what was saved",
  );
  expect(sandbox.commands).toEqual([]);
});

test("a damaged archive, a damaged manifest and a missing one are each refused", async () => {
  const files = await frozen();
  const archive = files.bytes("evidence/workspace.tar.gz");
  const sandbox = new ScriptedSandbox();
  await files.folder.write("evidence/workspace.tar.gz", archive.subarray(0, archive.length / 2));
  await expect(restore(files, sandbox)).rejects.toThrow("saved workspace cannot be verified again");
  await files.folder.write("evidence/manifest.json", "{}");
  await expect(restore(files, sandbox)).rejects.toThrow("no manifest of a workspace");
  await expect(restore(await attemptFiles(), sandbox)).rejects.toThrow("not there");
});

test("the ceilings of a saved workspace are the contract's", () => {
  expect(FROZEN_LIMITS).toEqual({ maxEntries: 200_000, maxBytes: 21_474_836_480 });
});

async function frozenWithin(limits: FrozenLimits) {
  const sandbox = new ScriptedSandbox();
  sandbox.trees.set("/app", [...WORK, entry("app/one-more")]);
  const files = await attemptFiles();
  const result = await freezeWorkspace(sandbox, "/app", files.folder, limits);
  return { result, paths: files.paths() };
}

test.each([
  { limits: { maxEntries: 8, maxBytes: 1e9 }, ceiling: "8 entries" },
  { limits: { maxEntries: 9, maxBytes: 70_005 }, ceiling: "70005 bytes" },
])("a workspace of more than $ceiling is not kept in part", async ({ limits, ceiling }) => {
  expect(await frozenWithin(limits)).toEqual({
    result: { saved: false, reason: `the workspace has more than ${ceiling}` },
    paths: [],
  });
});

test("a workspace at both ceilings is kept whole", async () => {
  const { result } = await frozenWithin({ maxEntries: 9, maxBytes: 70_006 });
  expect(result).toEqual({ saved: true, entries: 9, sizeBytes: 70_006 });
});
