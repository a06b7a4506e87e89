import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { readTar } from "../../../core/tar/read-tar.ts";
import { packTests } from "../../../runner/verifier/pack-tests.ts";

async function aTask(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "bench-tests-"));
  onTestFinished(async () => {
    await rm(dir, { recursive: true });
  });
  await mkdir(join(dir, "tests", "data"), { recursive: true });
  await mkdir(join(dir, "shared"));
  await writeFile(join(dir, "tests", "test.sh"), "#!/bin/bash\n", { mode: 0o600 });
  await writeFile(join(dir, "tests", "test_outputs.py"), "pass\n", { mode: 0o600 });
  await writeFile(join(dir, "shared", "expected.txt"), "42\n");
  return dir;
}

async function packed(dir: string, below?: string): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  const tests = {
    dir: join(dir, "tests"),
    taskDir: dir,
    ...(below === undefined ? {} : { below }),
  };
  for await (const { header, content } of readTar(await packTests(tests))) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    const { kind, mode, uid, gid, linkName } = header;
    const what = kind === "symlink" ? String(Buffer.from(linkName)) : String(Buffer.concat(chunks));
    const name = Buffer.from(header.name).toString().replace(/\/$/u, "");
    seen[name] = `${kind} ${mode.toString(8)} ${uid}:${gid} ${what.trim()}`.trim();
  }
  return seen;
}

test("tests travel as root's, readable by any verifier, and scripts are executable", async () => {
  const dir = await aTask();
  await writeFile(join(dir, "tests", "data", "tool"), "bin");
  await chmod(join(dir, "tests", "data", "tool"), 0o750);
  expect(await packed(dir)).toEqual({
    data: "directory 755 0:0",
    "data/tool": "file 755 0:0 bin",
    "test.sh": "file 755 0:0 #!/bin/bash",
    "test_outputs.py": "file 644 0:0 pass",
  });
});

test("they travel below a folder of their archive, links between them unchanged", async () => {
  const dir = await aTask();
  await symlink("../test.sh", join(dir, "tests", "data", "again"));
  expect(await packed(dir, "solution")).toEqual({
    "solution/data": "directory 755 0:0",
    "solution/data/again": "symlink 755 0:0 ../test.sh",
    "solution/test.sh": "file 755 0:0 #!/bin/bash",
    "solution/test_outputs.py": "file 644 0:0 pass",
  });
});

test("a link inside the folder stays one, a link elsewhere in the task becomes what it names", async () => {
  const dir = await aTask();
  await symlink("../test.sh", join(dir, "tests", "data", "again"));
  await symlink("../shared", join(dir, "tests", "shared"));
  await symlink(join(dir, "tests", "test.sh"), join(dir, "tests", "absolute"));
  expect(await packed(dir)).toMatchObject({
    "data/again": expect.stringContaining("symlink"),
    "shared/expected.txt": "file 644 0:0 42",
    absolute: "file 644 0:0 #!/bin/bash",
  });
});

test.each([
  ["/etc/passwd", "leads out of the task"],
  ["../../", "leads out of the task"],
  ["nowhere", "which is not there"],
  ["loop", "which is not there"],
])("a link to %s is refused before anything is sent (C-55)", async (target, why) => {
  const dir = await aTask();
  await symlink(target, join(dir, "tests", "loop"));
  await expect(packTests({ dir: join(dir, "tests"), taskDir: dir })).rejects.toThrow(why);
  await expect(packTests({ dir: join(dir, "tests"), taskDir: dir })).rejects.toBeInstanceOf(
    BenchError,
  );
});

test("a link to a folder that it lies in is refused, not followed for ever", async () => {
  const dir = await aTask();
  await symlink("../..", join(dir, "tests", "data", "up"));
  await expect(packTests({ dir: join(dir, "tests"), taskDir: dir })).rejects.toThrow(
    "a folder that it lies in",
  );
});

test("a tests folder that is itself a link out of the task is refused", async () => {
  const dir = await aTask();
  await rm(join(dir, "tests"), { recursive: true });
  await symlink("/usr/share", join(dir, "tests"));
  await expect(packTests({ dir: join(dir, "tests"), taskDir: dir })).rejects.toThrow(
    "leads out of the task",
  );
});
