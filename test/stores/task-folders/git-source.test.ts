import { execFile } from "node:child_process";
import { access, appendFile, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { GitSources, withoutCredentials } from "../../../stores/task-folders/git-source.ts";
import { readTasks } from "../../../stores/task-folders/read-tasks.ts";
import { GOOD, tempFolder, writeFiles } from "./temp-tasks.ts";

const PATH = process.env["PATH"] ?? "";
const identity = [
  "-c",
  "user.name=t",
  "-c",
  "user.email=t@example.org",
  "-c",
  "commit.gpgsign=false",
];

async function git(dir: string, ...args: string[]): Promise<string> {
  const env = { PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: "1" };
  return (
    await promisify(execFile)("git", [...identity, ...args], { cwd: dir, env })
  ).stdout.trim();
}

async function repository(): Promise<string> {
  const dir = await tempFolder();
  await writeFiles(join(dir, "tasks/one"), GOOD);
  await writeFiles(join(dir, "tasks/two words"), GOOD);
  await git(dir, "init", "-q");
  await git(dir, "add", "-A");
  await git(dir, "commit", "-q", "-m", "x");
  await git(dir, "remote", "add", "origin", "https://me:s3cret@example.org/org/repo.git");
  return dir;
}

test("tasks in a checkout record repository, commit, path and whether they are changed", async () => {
  const dir = await repository();
  await writeFile(join(dir, "tasks/two words/instruction.md"), "changed\n");
  await writeFile(join(dir, "beside"), "untracked");
  const { tasks } = await readTasks(join(dir, "tasks"), { gitPath: PATH });
  const resolvedSha = await git(dir, "rev-parse", "HEAD");
  const repo = "https://example.org/org/repo.git";
  expect(tasks.map((task) => task.source)).toEqual([
    { type: "git", repo, resolvedSha, path: "tasks/one", dirty: false },
    { type: "git", repo, resolvedSha, path: "tasks/two words", dirty: true },
  ]);
});

test.each([
  ["an untracked file", (dir: string) => writeFile(join(dir, "tasks/one/new"), "")],
  [
    "a staged file",
    async (dir: string) => {
      await writeFile(join(dir, "tasks/one/new"), "");
      await git(dir, "add", "-A");
    },
  ],
  ["a changed mode", (dir: string) => chmod(join(dir, "tasks/one/tests/test.sh"), 0o644)],
  [
    "an ignored file",
    async (dir: string) => {
      await writeFile(join(dir, ".gitignore"), "*.pyc\n");
      await writeFile(join(dir, "tasks/one/x.pyc"), "");
    },
  ],
])("%s makes a task dirty, and its neighbour stays clean", async (_, change) => {
  const dir = await repository();
  await change(dir);
  const sources = new GitSources(PATH);
  expect(await sources.sourceOf(join(dir, "tasks/one"))).toMatchObject({ dirty: true });
  expect(await sources.sourceOf(join(dir, "tasks/two words"))).toMatchObject({ dirty: false });
});

test("there is no source outside of a checkout, before a commit, or without git", async () => {
  const plain = await writeFiles(await tempFolder(), GOOD);
  await git(plain, "init", "-q");
  expect(await new GitSources(PATH).sourceOf(plain)).toBeNull();
  expect(await new GitSources("/nonexistent").sourceOf(await repository())).toBeNull();
  expect(await new GitSources(PATH).sourceOf("/proc/self")).toBeNull();
});

test("nothing that a checkout's configuration names is run", async () => {
  const dir = await repository();
  const bin = await tempFolder();
  const proof = join(bin, "ran");
  const evil = join(bin, "evil.sh");
  await writeFile(evil, `#!/bin/sh\necho "$0 $*" >> ${proof}\n`);
  await chmod(evil, 0o755);
  await mkdir(join(dir, ".git/hooks"), { recursive: true });
  for (const hook of ["post-index-change", "post-checkout", "fsmonitor-watchman"]) {
    await writeFile(join(dir, ".git/hooks", hook), await readFile(evil));
    await chmod(join(dir, ".git/hooks", hook), 0o755);
  }
  await appendFile(
    join(dir, ".git/config"),
    `[core]
  fsmonitor = ${evil}
  sshCommand = ${evil}
  pager = ${evil}
  askPass = ${evil}
[filter "x"]
  clean = ${evil}
  smudge = ${evil}
  required = true
[credential]
  helper = ${evil}
[protocol "ext"]
  allow = always
[diff "x"]
  textconv = ${evil}
[remote "evil"]
  url = ext::${evil}
  promisor = true
`,
  );
  await writeFile(join(dir, ".gitattributes"), "*.md filter=x diff=x\n");
  await writeFile(join(dir, "tasks/one/instruction.md"), "touched\n");
  const source = await new GitSources(PATH).sourceOf(join(dir, "tasks/one"));
  expect(source).toMatchObject({ path: "tasks/one", dirty: true });
  await expect(access(proof)).rejects.toThrow("ENOENT");
  // The trap is armed: an ordinary git does start the program.
  await git(dir, "status").catch(() => "");
  await expect(access(proof)).resolves.toBeUndefined();
});

test("a filter that cannot be switched off leaves the source unknown, and unrun", async () => {
  const dir = await repository();
  const proof = join(await tempFolder(), "ran");
  await appendFile(join(dir, ".git/config"), `[filter "a=b"]\n  clean = touch ${proof}\n`);
  await writeFile(join(dir, ".gitattributes"), "*.md filter=a=b\n");
  await writeFile(join(dir, "tasks/one/instruction.md"), "touched\n");
  expect(await new GitSources(PATH).sourceOf(join(dir, "tasks/one"))).toBeNull();
  await expect(access(proof)).rejects.toThrow("ENOENT");
  await git(dir, "status");
  await expect(access(proof)).resolves.toBeUndefined();
});

test("a thousand tasks of one repository cost two calls of git", async () => {
  const dir = await repository();
  const bin = await tempFolder();
  const { stdout } = await promisify(execFile)("sh", ["-c", "command -v git"], { env: { PATH } });
  await writeFile(
    join(bin, "git"),
    `#!/bin/sh\necho x >> ${bin}/calls\nexec ${stdout.trim()} "$@"\n`,
  );
  await chmod(join(bin, "git"), 0o755);
  const sources = new GitSources(`${bin}:${PATH}`);
  const asked = Array.from({ length: 1000 }, () => sources.sourceOf(join(dir, "tasks/one")));
  expect(new Set((await Promise.all(asked)).map((each) => each?.path))).toEqual(
    new Set(["tasks/one"]),
  );
  expect(await readFile(join(bin, "calls"), "utf8")).toBe("x\nx\n");
});

test.each([
  ["https://user:token@github.com/o/r.git", "https://github.com/o/r.git"],
  ["https://token@host:8443/o/r?access_token=x#y", "https://host:8443/o/r"],
  ["git@github.com:o/r.git", "ssh://github.com/o/r.git"],
  ["ssh://git@host:22/o/r.git", "ssh://host:22/o/r.git"],
  ["/home/me/repo", null],
  ["../other", null],
  ["file:///home/me/repo", null],
  ["ext::sh -c id", null],
])("the remote %j is recorded as %j", (remote, recorded) => {
  expect(withoutCredentials(remote)).toBe(recorded);
});
