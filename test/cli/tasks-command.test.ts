import { access, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GOOD, tempFolder, writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { bench } from "./run-bench.ts";

async function twoTasks(): Promise<string> {
  const root = await tempFolder();
  await writeFiles(join(root, "tasks/good"), GOOD);
  await writeFiles(join(root, "tasks/bad"), { ...GOOD, "task.toml": 'x = "\\s"' });
  return root;
}

test("list shows the tasks on stdout and what it skipped on stderr, and ends with 1", async () => {
  const { out, err, code } = await bench(await twoTasks(), "tasks", "list", "tasks");
  expect(out).toBe(
    "Task  Layout  Agent time  Network  Oracle  Runs here\n" +
      "good  harbor  5 s         default  yes     yes\n",
  );
  expect(err).toBe("skipped bad: task.toml:1:7: unrecognised escape sequence, not valid TOML\n");
  expect(code).toBe(1);
});

test("list says of each task what a run says of it", async () => {
  const root = await tempFolder();
  await writeFiles(join(root, "tasks/many"), {
    ...GOOD,
    "environment/docker-compose.yaml": "services: {}\n",
  });
  const talks = "---\nuser: {model: scripted}\nscenes: [{name: a}]\n---\nAsk.\n";
  await writeFiles(join(root, "tasks/talks"), {
    "task.md": talks,
    "environment/Dockerfile": "FROM debian:12\n",
    "verifier/test.sh": "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n",
  });
  const { out } = await bench(root, "tasks", "list", "tasks");
  expect(out).toMatch(/^many .* no: compose$/mu);
  expect(out).toMatch(/^talks .* controls only: user, scenes$/mu);
  const json: unknown = JSON.parse((await bench(root, "tasks", "list", "tasks", "--json")).out);
  const reason = "compose: no sandbox of this edition runs compose files";
  expect(json).toMatchObject({
    tasks: [
      { name: "many", notRun: { agents: [reason], controls: [reason] } },
      { name: "talks", notRun: { agents: [/^user: /u, /^scenes: /u].map(asMatch), controls: [] } },
    ],
  });
  const checked = await bench(root, "tasks", "check", "tasks");
  expect(checked.out).toContain(`! not run by this edition: ${reason}\n`);
  expect(checked.out).toContain("! not run by this edition, but for the controls: scenes: ");
});

const asMatch = (pattern: RegExp): unknown => expect.stringMatching(pattern);

test("list --json gives the whole tasks", async () => {
  const { out } = await bench(await twoTasks(), "tasks", "list", "tasks", "--json");
  expect(JSON.parse(out)).toMatchObject({
    tasks: [{ name: "good", layout: "harbor" }],
    skipped: [{ name: "bad" }],
  });
});

test("digest prints a name and a digest a line", async () => {
  const { out, code } = await bench(await twoTasks(), "tasks", "digest", "tasks");
  expect(out).toMatch(/^good sha256:[0-9a-f]{64}\n$/u);
  expect(code).toBe(1);
});

test("check prints a verdict a task and ends with 1 when one has an issue", async () => {
  const root = await twoTasks();
  await writeFile(join(root, "tasks/good/environment/Dockerfile"), "FROM debian\n");
  const { out, code } = await bench(root, "tasks", "check", "tasks");
  expect(out).toBe(
    "✗ bad — 1 issue(s):\n" +
      "  → task.toml:1:7: unrecognised escape sequence, not valid TOML\n" +
      "✓ good — valid (structural)\n" +
      "  ! environment/Dockerfile:1: debian names no fixed version, the task may change under you\n",
  );
  expect(code).toBe(1);
  expect((await bench(root, "tasks", "check", "tasks/good")).code).toBe(0);
});

test.each([[], ["--native"]])(
  "init writes a task that the check finds sound %j",
  async (...flags) => {
    const root = await tempFolder();
    const { out, err, code } = await bench(root, "tasks", "init", "tasks/mine", ...flags);
    expect(code).toBe(0);
    expect(err).toBe("next: `bench tasks check --controls tasks/mine` runs its oracle and nop\n");
    for (const path of out.trim().split("\n")) await access(join(root, path));
    const script = out.split("\n").find((path) => path.endsWith("test.sh")) ?? "";
    expect((await stat(join(root, script))).mode & 0o111).toBe(0o111);
    expect((await bench(root, "tasks", "check", "tasks")).out).toBe(
      "✓ mine — valid (structural)\n",
    );
  },
);

test("init never replaces what is there", async () => {
  const root = await writeFiles(await tempFolder(), { "mine/notes": "keep" });
  await expect(bench(root, "tasks", "init", "mine")).rejects.toMatchObject({
    kind: "usage",
    message: `${join(root, "mine")} is not empty`,
  });
  expect(await readFile(join(root, "mine/notes"), "utf8")).toBe("keep");
  await expect(access(join(root, "mine/task.toml"))).rejects.toThrow("ENOENT");
});

test("a hostile name cannot move the cursor of a listing", async () => {
  const root = await tempFolder();
  await writeFiles(join(root, "a\u001b[2Jb"), GOOD);
  await writeFiles(join(root, "ok"), GOOD);
  const { err } = await bench(root, "tasks", "list", ".");
  expect(err).toBe("skipped a\\x1b[2Jb: the name holds control characters\n");
});
