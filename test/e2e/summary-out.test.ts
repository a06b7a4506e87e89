import { mkdir, readdir, readFile, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { runBench, scratchDir } from "./run-bench.ts";
import { writeTask } from "./write-task.ts";

test("--summary-out writes through what is no plain file and replaces no device, link or folder", async () => {
  await using dir = await scratchDir();
  const at = (name: string): string => join(dir.path, "out", name);
  await mkdir(at("folder"), { recursive: true });
  await symlink("target.json", at("link"));
  execFileSync("mknod", [at("null"), "c", "1", "3"]);
  await writeTask(join(dir.path, "tasks/one"));
  const write = async (name: string): Promise<number | null> => {
    const args = ["run", "tasks", "-a", "oracle", "--env", "local", "--summary-out", at(name)];
    return (await runBench(args, { cwd: dir.path, stateDir: join(dir.path, "state") })).code;
  };
  expect(await write("null")).toBe(0);
  expect(await write("link")).toBe(0);
  expect(await write("folder")).toBe(4);
  expect(await write("new/plain.json")).toBe(2);
  await mkdir(at("new"));
  expect(await write("new/plain.json")).toBe(0);
  expect(execFileSync("stat", ["-c", "%F", at("null")], { encoding: "utf8" })).toBe(
    "character special file\n",
  );
  expect(await readlink(at("link"))).toBe("target.json");
  for (const name of ["target.json", "new/plain.json"])
    expect(JSON.parse(await readFile(at(name), "utf8"))).toMatchObject({ passed: 1 });
  expect((await readdir(at("."))).toSorted()).toEqual([
    "folder",
    "link",
    "new",
    "null",
    "target.json",
  ]);
}, 60_000);
