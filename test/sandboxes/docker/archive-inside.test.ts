import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Completed } from "../../../core/ports/sandbox.ts";
import { archiveOf, entry } from "../../../sandboxes/contract/sample-archive.ts";
import {
  packInside,
  type RunInside,
  unpackInside,
} from "../../../sandboxes/docker/archive-inside.ts";

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "bench-archive-"));
  onTestFinished(async () => {
    await rm(dir, { recursive: true });
  });
});

const ENDED: Completed = {
  exitCode: 0,
  stdout: new Uint8Array(),
  stderr: Buffer.from("0"),
  droppedBytes: 0,
  timedOut: false,
};

const never: RunInside = () => Promise.reject(new Error("was run"));

/** A worker of which only the shell's functions that a line calls are there. */
const inShell: RunInside = async (line) => {
  const program = `say() { :; }; begin() { exec 3>&2; }; finish() { exit "$2"; }; BENCH_NL='\n'`;
  const text = line("1", { pid: "1", setsid: null });
  const exitCode = await Promise.resolve()
    .then(() => execFileSync("dash", ["-c", `${program}\n${text}`], { stdio: "pipe" }))
    .then(
      () => 0,
      (error: { status?: number }) => error.status ?? -1,
    );
  return { ...ENDED, exitCode };
};

async function bytesOf(content: Buffer): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of archiveOf([entry({ name: "file", content })])) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("an archive is unpacked, and is in no command line", async () => {
  const content = Buffer.from("#!/bin/sh\n'exit' \"0\"\0\n");
  const lines: string[] = [];
  const run: RunInside = async (line, limits) => {
    lines.push(line("1", { pid: "1", setsid: null }));
    return await inShell(line, limits);
  };
  expect(await unpackInside(run, await bytesOf(content), dir)).toBe(true);
  expect(await readFile(join(dir, "file"))).toEqual(content);
  expect(lines[0]).toMatch(
    /^begin 1; \( BENCH_NULS='[^']*'; printf "[^"]*" \| \( [^|]*exec tar -xpf - -C '[^']*' \) \); finish 1 \$\?$/u,
  );
});

test("what was not unpacked is told, so that the daemon does it", async () => {
  const archive = await bytesOf(Buffer.from("content"));
  expect(await unpackInside(inShell, archive, join(dir, "nowhere"))).toBe(false);
  expect(await unpackInside(() => Promise.resolve(null), archive, dir)).toBe(false);
  const late = { ...ENDED, timedOut: true };
  expect(await unpackInside(() => Promise.resolve(late), archive, dir)).toBe(false);
});

test("an archive that would take the shells longer than the daemon is left to it", async () => {
  const archive = await bytesOf(Buffer.alloc(30_000, 0xff));
  expect(await unpackInside(never, archive, dir)).toBe(false);
});

/** What the packing script prints, run on this machine. */
const packing: RunInside = async (line) => {
  const text = line("1", { pid: "1", setsid: null }).replaceAll("3>&-", "");
  const program = `say() { :; }; begin() { exec 3>&2; }; finish() { exit "$2"; }; BENCH_NL='\n'`;
  const run = execFileSync("dash", ["-c", `${program}\n${text}`], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  return await Promise.resolve({ ...ENDED, stdout: run });
};

test("a folder's archive is given whole or not at all", async () => {
  await mkdir(join(dir, "kept"));
  await writeFile(join(dir, "kept/small"), "content");
  const archive = await packInside(packing, dir, "kept");
  expect(execFileSync("tar", ["-tf", "-"], { input: archive ?? "" }).toString()).toBe(
    "kept/\nkept/small\n",
  );
  await writeFile(join(dir, "kept/large"), Buffer.alloc(200_000, 1));
  expect(await packInside(packing, dir, "kept")).toBeNull();
});

test.for<[string, Partial<Completed> | null]>([
  ["tar failed", { stderr: Buffer.from("2") }],
  ["tar was not there", { stderr: Buffer.from("127"), stdout: new Uint8Array() }],
  ["it was cut between two blocks", { stdout: Buffer.alloc(1024, 1) }],
  ["some of it was dropped", { droppedBytes: 1 }],
  ["it took too long", { timedOut: true, exitCode: 137 }],
  ["it was not run", null],
])("an archive is the daemon's to make when %s", async ([, change]) => {
  const done = change === null ? null : { ...ENDED, stdout: Buffer.alloc(10_240), ...change };
  expect(await packInside(() => Promise.resolve(done), "/", "folder")).toBeNull();
});

test("a name that tar would take for an option is the daemon's to pack", async () => {
  expect(await packInside(never, "/", "--checkpoint-action=exec=id")).toBeNull();
});
