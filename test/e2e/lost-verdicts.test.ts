import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TrialResult } from "../../core/model/trial-result.ts";
import { runBench, scratchDir } from "./run-bench.ts";
import { writeTask } from "./write-task.ts";

const TOML = 'version = "1.0"\n[agent]\ntimeout_sec = 60\n[verifier]\ntimeout_sec = 1\n';

/** The job's attempts of a task, in the order in which they were made. */
async function resultsOf(jobDir: string, task: string): Promise<TrialResult[]> {
  const names = (await readdir(jobDir)).filter((name) => name.startsWith(`${task}__`));
  const results = await Promise.all(
    names.map(async (name) =>
      TrialResult.parse(JSON.parse(await readFile(join(jobDir, name, "result.json"), "utf8"))),
    ),
  );
  return results.toSorted((a, b) => (a.attempt ?? 0) - (b.attempt ?? 0));
}

describe.skipIf(process.getuid?.() !== 0)("a verdict that is lost", () => {
  test("to what the agent left is told apart once the nop control shows that its verifier works", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    // A pipe where the answer should be: whoever reads it waits for ever.
    await writeTask(join(dir.path, "tasks/one"), { toml: TOML, agent: "mkfifo /app/answer" });
    const run = async (agent: string, job: string) =>
      await runBench(
        ["run", "tasks", "-a", agent, "--env", "local", "--job-name", job, "--retry-attempts", "0"],
        options,
      );
    const alone = await run("script", "before");
    expect(alone.stdout).toContain("verifier timed out (task problem)");
    const [before] = await resultsOf(join(dir.path, "jobs/before"), "one");
    expect(before?.outcome).toMatchObject({ after_agent: false });
    expect(before?.verification).toMatchObject({ failures: 2, works_on_nop: null });

    expect((await run("nop", "control")).code).toBe(0);
    const known = await run("script", "after");
    expect(known.stdout).toContain("verifier timed out after the agent's work");
    expect(known.stderr).toContain("lost attempts or test runs to their verifier");
    const [after] = await resultsOf(join(dir.path, "jobs/after"), "one");
    expect(after?.rewards).toBeNull();
    expect(after?.outcome).toMatchObject({ after_agent: true });
    expect(after?.verification).toMatchObject({ failures: 2, works_on_nop: true });
    const { stderr } = await runBench(["results", "jobs"], options);
    expect(stderr).toMatch(
      /jobs\/after\/one__[0-9a-f]{8}: its verifier failed 2 times and gave no score; it works on nop's workspace/u,
    );
  });

  test("with damaged saved work stays lost until --fresh, and every view says so", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    await writeTask(join(dir.path, "tasks/one"), { test: "exit 3" });
    const flags = "run tasks -a oracle --env local --save-outputs --job-name j".split(" ");
    expect((await runBench(flags, options)).code).toBe(1);
    const job = join(dir.path, "jobs/j");
    const [first] = await resultsOf(job, "one");
    const saved = join(job, first?.rollout_name ?? "", "evidence/workspace.tar.gz");
    await writeFile(saved, "not what was saved");
    const again = await runBench(flags, options);
    expect(again.stdout).toContain("saved work cannot be verified again");
    expect(again.stdout).toContain("next: run the same command with --fresh");
    const [, second] = await resultsOf(job, "one");
    expect(second?.verification).toMatchObject({
      verify_only_from: first?.rollout_name,
      refused: true,
      failures: 1,
    });
    const plan = await runBench([...flags, "--explain"], options);
    expect(plan.stdout).toContain("could not verify it again; only --fresh starts over");
    const { stderr } = await runBench(["results", "jobs"], options);
    expect(stderr).toContain("cannot be verified again; next: the same command with --fresh");
    await writeTask(join(dir.path, "tasks/one"));
    expect((await runBench([...flags.slice(0, -1), "k", "--fresh"], options)).code).toBe(0);
  });

  test("to a kill between result and seal is found again, and results says so", async () => {
    await using dir = await scratchDir();
    const options = { cwd: dir.path, stateDir: join(dir.path, "state") };
    await writeTask(join(dir.path, "tasks/one"));
    const flags = "run tasks -a oracle --env local --job-name j".split(" ");
    expect((await runBench(flags, options)).code).toBe(0);
    const [only] = await resultsOf(join(dir.path, "jobs/j"), "one");
    const attempt = join(dir.path, "jobs/j", only?.rollout_name ?? "");
    await rm(join(attempt, "seal.json"));
    expect((await runBench(["results", "jobs"], options)).stderr).toBe("");
    expect((await runBench(flags, options)).code).toBe(0);
    const { stderr, stdout } = await runBench(["results", "jobs"], options);
    expect(stderr).toContain("was sealed by a later command: its own was killed before it could");
    expect(stdout).toContain("1/1 (100.0%)");
  });
});
