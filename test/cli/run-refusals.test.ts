import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GOOD, tempFolder, writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { bench, benchWith } from "./run-bench.ts";

/** A folder with one task, and `bench run` on it with these variables and no others. */
async function oneTask() {
  const root = await tempFolder();
  await writeFiles(join(root, "tasks/good"), GOOD);
  const run = async (env: Readonly<Record<string, string>>, ...args: string[]) =>
    await benchWith({ BENCHFLOW_STATE_DIR: join(root, "state"), ...env }, root, "run", ...args);
  return { root, run };
}

test.each([[[]], [["--dry-run"]]])(
  "an agent with a model is refused for the account before keys of it or of a provider are (%j)",
  async (more) => {
    const { root, run } = await oneTask();
    const args = ["tasks", "-a", "claude", "-m", "anthropic/claude-sonnet-4-6"];
    await expect(run({}, ...args, "--env", "fargate", ...more)).rejects.toMatchObject({
      kind: "usage",
      message: "agent claude is not built yet for --env fargate",
      next: "use `-a oracle` or `-a nop` there, or `--env docker`",
    });
    expect(await readdir(root)).toEqual(["tasks"]);
  },
);

test.each([
  [["--prices", "nosuch.json"], "--prices nosuch.json cannot be read (ENOENT)"],
  [["--local-include", "/nosuch/tools"], "--local-include /nosuch/tools does not exist"],
  [["--summary-out", "/nosuch/x.json"], "--summary-out /nosuch/x.json: its folder does not exist"],
])("%j is refused in a control's dry run too, and makes nothing", async (flags, message) => {
  const { root, run } = await oneTask();
  const args = [join(root, "tasks"), "-a", "oracle", "--env", "local", "--dry-run"];
  await expect(run({}, ...args, ...flags)).rejects.toThrow(message);
  expect(await readdir(root)).toEqual(["tasks"]);
  expect(await readdir("/")).not.toContain("nosuch");
});

test("a summary below the jobs folder needs no folder yet", async () => {
  const { root, run } = await oneTask();
  const jobs = ["-o", join(root, "jobs"), "--summary-out", join(root, "jobs/new/s.json")];
  const args = [join(root, "tasks"), "-a", "oracle", "--env", "local", "--dry-run"];
  expect((await run({}, ...args, ...jobs)).code).toBe(0);
});

test("run --help says what the account is good for", async () => {
  const { out } = await bench(".", "run", "--help");
  expect(out).toMatch(/fargate\s+\(controls\s+only\)/u);
});

test("the README's run of a real agent needs one key and nothing else", async () => {
  const { root, run } = await oneTask();
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const [, key = ""] = /with `([A-Z_]+_KEY)` alone/u.exec(readme) ?? [];
  const [, words = ""] = /`bench run TASKS (-a \w+ -m .+?)`/u.exec(readme) ?? [];
  const args = [join(root, "tasks"), ...words.split(" "), "--env", "local", "--dry-run"];
  expect(args).toContain("--max-cost-usd");
  const { out } = await run({ [key]: "sk-fake" }, ...args);
  expect(out).toMatch(/good +run +1/u);
  await expect(run({}, ...args)).rejects.toThrow(`${key} required`);
  expect(await readdir(root)).toEqual(["tasks"]);
});
