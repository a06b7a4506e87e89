import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { runBench, scratchDir, startBench } from "./run-bench.ts";
import { writeTask } from "./write-task.ts";

const ORACLE = ["run", "tasks", "-a", "oracle", "--env", "local"];

async function onlyJob(jobs: string): Promise<string> {
  const names = (await readdir(jobs)).filter((name) => name.startsWith("20"));
  expect(names).toHaveLength(1);
  return join(jobs, names[0] ?? "");
}

async function snapshot(dir: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[path] = `${String((await stat(path)).mtimeMs)} ${await readFile(path, "utf8")}`;
  }
  return files;
}

async function sandboxesOf(stateDir: string): Promise<string[]> {
  return await readdir(join(stateDir, "sandboxes")).catch(() => []);
}

describe.skipIf(process.getuid?.() !== 0)("a job on this computer", () => {
  test("a resume with nothing to do rewrites no file and no time", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    await writeTask(join(dir.path, "tasks/one"));
    await writeTask(join(dir.path, "tasks/two"));
    expect((await runBench(ORACLE, options)).code).toBe(0);
    const before = await snapshot(join(dir.path, "jobs"));
    const again = await runBench(ORACLE, options);
    expect(again.code).toBe(0);
    expect(again.stderr).toContain("all 2 task(s) were already finished");
    expect(await snapshot(join(dir.path, "jobs"))).toEqual(before);
  });

  test("a changed task is run again alone, and an added one is run", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    await writeTask(join(dir.path, "tasks/one"));
    await writeTask(join(dir.path, "tasks/two"));
    await runBench(ORACLE, options);
    await writeFile(
      join(dir.path, "tasks/one/instruction.md"),
      "Write 1 to /app/answer, please.\n",
    );
    await writeTask(join(dir.path, "tasks/three"));
    const plan = await runBench([...ORACLE, "--explain"], options);
    expect(plan.stdout).toMatch(/one +run +2/u);
    expect(plan.stdout).toMatch(/two +keep/u);
    expect(plan.stdout).toMatch(/three +run +1/u);
    const again = await runBench(ORACLE, options);
    expect(again.stdout).toContain("Score: 3/3 (100.0%)");
    await onlyJob(join(dir.path, "jobs"));
  });

  test("an interrupt ends cleanly with 130, no sandbox left, and the same command goes on", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    await writeTask(join(dir.path, "tasks/quick"));
    await writeTask(join(dir.path, "tasks/slow"), { solve: "sleep 3; echo 1 >/app/answer" });
    const bench = startBench([...ORACLE, "-j", "2"], options);
    for (let tries = 0; (await sandboxesOf(options.stateDir)).length < 2 && tries < 200; tries += 1)
      await sleep(50);
    await sleep(1000);
    bench.kill("SIGINT");
    const ended = await bench.ended;
    expect(ended.code).toBe(130);
    expect(ended.stderr).toMatch(/stopped; .* next: the same command resumes/su);
    expect(await sandboxesOf(options.stateDir)).toEqual([]);
    const again = await runBench(ORACLE, options);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain("Score: 2/2 (100.0%)");
  });

  test("a second interrupt leaves at once, and the next run removes what was left", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    await writeTask(join(dir.path, "tasks/slow"), { solve: "sleep 2; echo 1 >/app/answer" });
    const bench = startBench(ORACLE, options);
    while ((await sandboxesOf(options.stateDir)).length === 0) await sleep(20);
    bench.kill("SIGINT");
    bench.kill("SIGINT");
    expect((await bench.ended).code).toBe(130);
    const again = await runBench(ORACLE, options);
    expect(again.stdout).toContain("Score: 1/1 (100.0%)");
    expect(await sandboxesOf(options.stateDir)).toEqual([]);
  });

  test("a job that another process is running is refused, and says whose it is", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    await writeTask(join(dir.path, "tasks/slow"), { solve: "sleep 3; echo 1 >/app/answer" });
    const first = startBench([...ORACLE, "--job-name", "mine"], options);
    while ((await sandboxesOf(options.stateDir)).length === 0) await sleep(20);
    const second = await runBench([...ORACLE, "--job-name", "mine"], options);
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(/already running in process \d+/u);
    expect((await first.ended).code).toBe(0);
  });

  test("a task that cannot be read is listed and makes 1; with --strict-tasks nothing starts (C-26)", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    await writeTask(join(dir.path, "tasks/good"));
    await writeTask(join(dir.path, "tasks/torn"), { toml: 'version = "1.0"\nx = "\\s"\n' });
    const strict = await runBench([...ORACLE, "--strict-tasks"], options);
    expect(strict.code).toBe(2);
    expect(await readdir(dir.path)).not.toContain("jobs");
    const run = await runBench(ORACLE, options);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/skipped torn: .*task\.toml:2:\d+/u);
    expect(run.stdout).toContain("Score: 1/1 (100.0%)");
  });

  test("a verifier that gave no verdict is tried again, and saved work is only verified again", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    await writeTask(join(dir.path, "tasks/one"), {
      test: "exit 3",
      solve: "date +%N >/app/answer",
    });
    const flags = [...ORACLE, "--save-outputs", "--retry-attempts", "0"];
    const run = await runBench(flags, options);
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(/0 scored .* 1 unscored/u);
    const plan = await runBench([...flags, "--explain"], options);
    expect(plan.stdout).toMatch(/one +verify-only +2/u);
    expect((await runBench(flags, options)).code).toBe(1);
    const job = await onlyJob(join(dir.path, "jobs"));
    const attempts = (await readdir(job)).filter((name) => name.startsWith("one__"));
    expect(attempts).toHaveLength(2);
    const frozen = await Promise.all(
      attempts.map(async (name) => {
        const text = await readFile(join(job, name, "evidence/manifest.json"), "utf8");
        const manifest = JSON.parse(text) as { entries: { path: string; sha256?: string }[] };
        return manifest.entries.find(({ path }) => path.endsWith("answer"))?.sha256;
      }),
    );
    // The solution writes another answer every time: an equal one was not drawn again.
    expect(frozen[0]).toBeDefined();
    expect(frozen[1]).toBe(frozen[0]);
  });

  test("a disk that fills in mid-run is exit 4, nothing is half-written, and a resume completes", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    const jobs = join(dir.path, "jobs");
    await mkdir(jobs);
    const noisy = "head -c 400000 /dev/urandom | base64; echo 1 >/app/answer";
    for (const name of ["a", "b", "c", "d"])
      await writeTask(join(dir.path, "tasks", name), { solve: noisy });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", jobs]);
    try {
      const full = await runBench([...ORACLE, "-j", "2"], options);
      expect(full.code).toBe(4);
      expect(full.stderr).toMatch(/no space left/iu);
      expect(full.stderr).toContain("  next: ");
      expect(await sandboxesOf(options.stateDir)).toEqual([]);
      execFileSync("mount", ["-o", "remount,size=64m", jobs]);
      const again = await runBench([...ORACLE, "-j", "2"], options);
      expect(again.code).toBe(0);
      expect(again.stdout).toContain("Score: 4/4 (100.0%)");
      await onlyJob(jobs);
    } finally {
      execFileSync("umount", [jobs]);
    }
  });
});
