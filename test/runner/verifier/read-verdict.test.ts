import fc from "fast-check";
import { expect, test } from "vitest";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import type { TarSource } from "../../../core/tar/write-tar.ts";
import { readVerdict, type Verdict } from "../../../runner/verifier/read-verdict.ts";
import { type AttemptFiles, attemptFiles } from "./attempt-files.ts";
import { entry, root, ScriptedSandbox } from "./scripted-sandbox.ts";

async function read(
  tree: readonly TarSource[] | Error | null,
): Promise<{ verdict: Verdict; files: AttemptFiles }> {
  const sandbox = new ScriptedSandbox();
  if (tree !== null) sandbox.trees.set("/logs/verifier", tree);
  const files = await attemptFiles();
  return { verdict: await readVerdict(sandbox, files.folder), files };
}

test("the verdict and whatever lies beside it come home as they are", async () => {
  const { verdict, files } = await read([
    root("verifier"),
    entry("verifier/reward.txt", { content: "1\n" }),
    entry("verifier/reward.json", { content: '{"reward":1}' }),
    entry("verifier/ctrf.json", { content: "{}" }),
    entry("verifier/sub", { kind: "directory", mode: 0o755 }),
    entry("verifier/sub/test-stderr.txt", { content: "warn" }),
    entry(Buffer.from("verifier/\xff\n", "latin1"), { content: "odd" }),
  ]);
  expect(verdict.text).toMatchObject({ kind: "bytes" });
  expect(files.text("verifier/reward.txt")).toBe("1\n");
  expect(files.text("verifier/sub/test-stderr.txt")).toBe("warn");
  expect(files.paths()).toEqual([
    "verifier/=FF%0A",
    "verifier/ctrf.json",
    "verifier/reward.json",
    "verifier/reward.txt",
    "verifier/sub/test-stderr.txt",
  ]);
  expect(verdict.warnings).toEqual([]);
});

test.each([
  ["symlink", { kind: "symlink", linkName: "/app/one" }, "link"],
  ["hard link", { kind: "hardlink", linkName: "verifier/other" }, "link"],
  ["pipe", { kind: "fifo" }, "not a regular file"],
  ["folder", { kind: "directory" }, "not a regular file"],
  ["2 MiB file", { content: Buffer.alloc(2 * 1024 * 1024) }, "too large"],
] as const)("a %s in the reward file's place is not followed or read", async (_, over, reason) => {
  const { verdict, files } = await read([root("verifier"), entry("verifier/reward.txt", over)]);
  expect(verdict.text).toEqual({ kind: "unsafe", reason });
  expect(files.paths()).toEqual([]);
});

test("a reward file that an archive holds twice is no verdict", async () => {
  const { verdict } = await read([
    root("verifier"),
    entry("verifier/reward.txt", { content: "0" }),
    entry("verifier/reward.txt", { content: "1" }),
  ]);
  expect(verdict.text).toEqual({ kind: "unsafe", reason: "listed twice" });
});

test("a name that leaves the folder makes what was not seen unsafe and writes nothing (C-56)", async () => {
  for (const name of ["verifier/../../x", "elsewhere/reward.txt", "../reward.txt"]) {
    const { verdict, files } = await read([root("verifier"), entry(name, { content: "1" })]);
    expect(verdict.text).toEqual({ kind: "unsafe", reason: "unreadable folder" });
    expect(verdict.warnings).toEqual(["/logs/verifier was not read to its end"]);
    expect(files.paths()).toEqual([]);
  }
});

test("reward.txt in a subfolder is no reward", async () => {
  const { verdict } = await read([
    root("verifier"),
    entry("verifier/a", { kind: "directory" }),
    entry("verifier/a/reward.txt", { content: "1" }),
  ]);
  expect(verdict.text).toEqual({ kind: "missing" });
});

test("a file in a folder named like a report is no report", async () => {
  const { verdict, files } = await read([
    root("verifier"),
    entry("verifier/ctrf.json", { kind: "directory" }),
    entry("verifier/ctrf.json/inner", { content: "{}" }),
  ]);
  expect(verdict.ctrf).toBeNull();
  expect(files.paths()).toEqual(["verifier/ctrf.json/inner"]);
});

test("a folder that the verifier removed is a missing verdict, a link in its place an unsafe one", async () => {
  expect((await read(null)).verdict.text).toEqual({ kind: "missing" });
  const linked = await read(new SandboxError("unsafe-path", "a link"));
  expect(linked.verdict.json).toEqual({ kind: "unsafe", reason: "unreadable folder" });
  expect((await read([entry("verifier", { kind: "symlink" })])).verdict.text).toEqual({
    kind: "missing",
  });
});

test("a lost sandbox is not hidden", async () => {
  await expect(read(new SandboxError("lost", "gone"))).rejects.toThrow("gone");
});

test("files beyond the limits are counted, and the reward after them is still found", async () => {
  const many = Array.from({ length: 1200 }, (_, index) => entry(`verifier/f${index}`));
  const { verdict, files } = await read([
    root("verifier"),
    ...many,
    entry("verifier/huge", { content: Buffer.alloc(65 * 1024 * 1024) }),
    entry(`verifier/${"d/".repeat(17)}deep`),
    entry("verifier/reward.txt", { content: "0" }),
  ]);
  expect(verdict.text).toMatchObject({ kind: "bytes" });
  expect(files.paths()).toHaveLength(1001);
  expect(verdict.warnings).toEqual([
    "202 files in /logs/verifier were not kept: too many, too large or too deep",
  ]);
});

test("the runner's own files are not replaced by the sandbox's", async () => {
  const { files } = await read([
    root("verifier"),
    entry("verifier/test-stdout.txt", { content: "forged" }),
    entry("verifier/hardening.json", { content: "forged" }),
  ]);
  expect(files.paths()).toEqual([]);
});

test("no archive throws anything but what the sandbox throws", async () => {
  const anyTree = fc.array(
    fc.record({
      name: fc.oneof(
        fc.constantFrom("verifier/reward.txt", "verifier/reward.json", "/", "verifier", ""),
        fc.uint8Array({ maxLength: 20 }).map((bytes) => bytes.filter((byte) => byte !== 0)),
      ),
      kind: fc.constantFrom("file", "symlink", "hardlink", "fifo", "directory"),
    }),
  );
  await fc.assert(
    fc.asyncProperty(anyTree, async (tree) => {
      const sources = tree.map(({ name, kind }) => entry(name, { kind }));
      const { verdict } = await read([root("verifier"), ...sources]);
      expect(["missing", "bytes", "unsafe"]).toContain(verdict.text.kind);
    }),
  );
});
