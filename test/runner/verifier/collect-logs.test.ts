import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import type { TarSource } from "../../../core/tar/write-tar.ts";
import { collectLogs, LOG_LIMITS } from "../../../runner/verifier/collect-logs.ts";
import { type AttemptFiles, attemptFiles } from "./attempt-files.ts";
import { entry, root, ScriptedSandbox } from "./scripted-sandbox.ts";

interface Collected {
  readonly files: AttemptFiles;
  readonly warnings: readonly string[];
  readonly manifest: { readonly folders: readonly Record<string, unknown>[] };
}

async function collect(
  artifacts: readonly TarSource[] | Error,
  over: { agent?: readonly TarSource[]; limits?: typeof LOG_LIMITS } = {},
): Promise<Collected> {
  const sandbox = new ScriptedSandbox();
  sandbox.trees.set("/logs/artifacts", artifacts);
  if (over.agent !== undefined) sandbox.trees.set("/logs/agent", over.agent);
  const files = await attemptFiles();
  const warnings = await collectLogs(sandbox, files.folder, {
    takenByRunner: new Set(["oracle.txt"]),
    signal: new AbortController().signal,
    limits: over.limits ?? LOG_LIMITS,
  });
  const hasManifest = files.paths().includes("artifacts-manifest.json");
  const manifest: Collected["manifest"] = hasManifest
    ? JSON.parse(files.text("artifacts-manifest.json"))
    : { folders: [] };
  return { files, warnings, manifest };
}

test("files come home under their own names, and the manifest counts them", async () => {
  const { files, warnings, manifest } = await collect([
    root("artifacts"),
    entry("artifacts/plot.png", { content: Buffer.from([0, 1, 255]) }),
    entry("artifacts/deep", { kind: "directory" }),
    entry("artifacts/deep/notes.txt", { content: "ü" }),
  ]);
  expect(files.bytes("artifacts/plot.png")).toEqual(Buffer.from([0, 1, 255]));
  expect(files.text("artifacts/deep/notes.txt")).toBe("ü");
  expect(warnings).toEqual([]);
  expect(manifest.folders).toMatchObject([
    { source: "/logs/artifacts", stored_files: 2, stored_bytes: 5, dropped_files: 0 },
  ]);
});

test("empty folders leave no manifest, and a folder that is not there is no problem", async () => {
  const { files } = await collect([root("artifacts")]);
  expect(files.paths()).toEqual([]);
});

test("a folder that is seen to be empty is not read, and the other one is", async () => {
  const sandbox = new ScriptedSandbox();
  sandbox.execs.push({ prints: "empty /logs/agent\0" });
  sandbox.trees.set("/logs/agent", new Error("it was read"));
  sandbox.trees.set("/logs/artifacts", [root("artifacts"), entry("artifacts/kept")]);
  const files = await attemptFiles();
  const signal = new AbortController().signal;
  await collectLogs(sandbox, files.folder, { takenByRunner: new Set(), signal });
  expect(files.paths()).toEqual(["artifacts-manifest.json", "artifacts/kept"]);
});

test.each([
  ["", "empty"],
  ["touch a", ""],
  ["touch .a", ""],
  ["touch ..a", ""],
  ["touch ...", ""],
  ["ln -s nowhere .b", ""],
  ["mkfifo '*'", ""],
  ["mkdir -p d", ""],
  ["rmdir ../agent", ""],
  ["rmdir ../agent; ln -s . ../agent", ""],
  ["rmdir ../agent; touch ../agent", ""],
])("the look for empty folders tells one made by %j as %j", async (make, told) => {
  const sandbox = new ScriptedSandbox();
  const files = await attemptFiles();
  const signal = new AbortController().signal;
  await collectLogs(sandbox, files.folder, { takenByRunner: new Set(), signal });
  const [, , script = ""] = sandbox.commands[0]?.argv ?? [];
  const dir = await mkdtemp(join(tmpdir(), "bench-empty-"));
  onTestFinished(async () => {
    await rm(dir, { recursive: true });
  });
  const folder = join(dir, "agent");
  execFileSync("sh", ["-ec", `mkdir "$1"; cd "$1"; ${make}`, "sh", folder]);
  const printed = execFileSync("sh", ["-c", script, "sh", folder], { encoding: "utf8" });
  expect(printed).toBe(told === "" ? "" : `empty ${folder}\0`);
});

test("links, loops and pipes are lines of the manifest and nothing on this machine (C-55)", async () => {
  const { files, manifest } = await collect([
    root("artifacts"),
    entry("artifacts/passwd", { kind: "symlink", linkName: "/etc/passwd" }),
    entry("artifacts/loop", { kind: "symlink", linkName: "loop" }),
    entry("artifacts/up", { kind: "symlink", linkName: Buffer.from("../\xff", "latin1") }),
    entry("artifacts/pipe", { kind: "fifo" }),
    entry("artifacts/twin", { kind: "hardlink", linkName: "artifacts/passwd" }),
  ]);
  expect(files.paths()).toEqual(["artifacts-manifest.json"]);
  expect(manifest.folders[0]?.["listed"]).toEqual([
    { path: "passwd", kind: "symlink", target: "/etc/passwd" },
    { path: "loop", kind: "symlink", target: "loop" },
    { path: "up", kind: "symlink", target: "../=FF" },
    { path: "pipe", kind: "fifo", target: "" },
    { path: "twin", kind: "hardlink", target: "artifacts/passwd" },
  ]);
});

test("names that are no UTF-8, too long or the runner's own are kept apart and recorded", async () => {
  const long = "n".repeat(255);
  const { files, manifest } = await collect([root("artifacts")], {
    agent: [
      root("agent"),
      entry(Buffer.from("agent/\xff\xfe", "latin1"), { content: "odd" }),
      entry("agent/oracle.txt", { content: "forged" }),
      entry(`agent/${long}`, { content: "long" }),
    ],
  });
  expect(files.text("agent/=FF=FE")).toBe("odd");
  expect(files.text("agent/oracle.txt=~sandbox")).toBe("forged");
  expect(files.paths()).not.toContain("agent/oracle.txt");
  const stored = files.paths().find((path) => path.startsWith("agent/nnn")) ?? "";
  expect(manifest.folders[0]?.["renamed"]).toEqual([
    { path: "oracle.txt", stored: "oracle.txt=~sandbox" },
    { path: long, stored: stored.slice("agent/".length) },
  ]);
});

/** More than any limit here; the soak shows that a hundred thousand take no other way. */
const MANY = process.env["BENCH_TEST_SOAK"] === "1" ? 100_000 : 2000;

test("files over the limit in number, and one over it in size, are counted, not kept", async () => {
  const many = Array.from({ length: MANY }, (_, index) =>
    entry(`artifacts/${index}`, { content: "x" }),
  );
  const limits = { maxFiles: 10, maxBytes: 1000 };
  const { files, warnings, manifest } = await collect(
    [root("artifacts"), entry("artifacts/big", { content: Buffer.alloc(5000) }), ...many],
    { limits },
  );
  expect(files.paths()).toHaveLength(11);
  const dropped = { dropped_files: MANY - 9, dropped_bytes: MANY + 4990 };
  expect(manifest.folders).toMatchObject([{ stored_files: 10, stored_bytes: 10, ...dropped }]);
  expect(warnings).toEqual([
    `${MANY - 9} files with ${MANY + 4990} bytes in /logs/artifacts were not kept`,
  ]);
}, 60_000);

test("an archive that climbs out is read no further, and that is said (C-56)", async () => {
  const { files, warnings } = await collect([
    root("artifacts"),
    entry("artifacts/fine", { content: "1" }),
    entry("artifacts/../../../etc/cron.d/x", { content: "2" }),
    entry("artifacts/after", { content: "3" }),
  ]);
  expect(files.paths()).toEqual(["artifacts-manifest.json", "artifacts/fine"]);
  expect(warnings).toEqual([
    "/logs/artifacts was not read to its end: archive with a name outside of its folder",
  ]);
});

test("a link in the folder's place takes nothing, a lost sandbox is not hidden", async () => {
  const linked = await collect(new SandboxError("unsafe-path", "a link in the way"));
  expect(linked.warnings).toEqual(["/logs/artifacts was not read to its end: a link in the way"]);
  await expect(collect(new SandboxError("lost", "gone"))).rejects.toThrow("gone");
});
