import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import { entry } from "./scripted-sandbox.ts";
import { aTask, verify } from "./verify-scene.ts";

test("a reward is read after hardening, tests, and the end of all that they left", async () => {
  const { report, sandbox, files } = await verify({
    tests: { prints: "all good\n" },
    verdict: [entry("verifier/reward.txt", { content: "1\n" })],
  });
  expect(report).toMatchObject({
    evidence: { kind: "rewards", rewards: { reward: 1 } },
    exitCode: 0,
    timeout: null,
    warnings: [],
  });
  expect(sandbox.commands).toHaveLength(2);
  expect(sandbox.killed).toBe(1);
  expect(sandbox.puts.map(({ dir }) => dir)).toEqual(["/tests"]);
  expect(files.text("verifier/test-stdout.txt")).toBe("all good\n");
});

test("a plain test.sh runs in the workspace, a verifier.md's command in its own folder", async () => {
  const plain = await verify({});
  expect(plain.sandbox.commands[1]?.argv.slice(-2)).toEqual(["/app", "/tests/test.sh"]);
  const taskDir = await aTask();
  await writeFile(join(taskDir, "tests", "verifier.md"), "---\n---\n");
  const request = { taskDir, testsDir: join(taskDir, "tests"), placement: "verifier" } as const;
  const documented = await verify({ request });
  expect(documented.sandbox.commands[1]?.argv.slice(-2)).toEqual(["/verifier", "./test.sh"]);
  const other = await verify({ request: { command: "python3 check.py; id" } });
  expect(other.sandbox.commands[1]?.argv.slice(-2)).toEqual(["/tests", "python3 check.py; id"]);
});

test("a verifier that fails by exit code but wrote a reward is believed, with a warning", async () => {
  const { report } = await verify({
    tests: { exitCode: 1, prints: "1 failed" },
    verdict: [entry("verifier/reward.txt", { content: "1" })],
  });
  expect(report.evidence).toEqual({ kind: "rewards", rewards: { reward: 1 } });
  expect(report.warnings).toEqual([
    "the verifier exited with rc=1; the reward that it wrote stands",
  ]);
});

// Each of these is BenchFlow 0.7.12's own text for it.
test.each([
  [3, "", "verifier_failure", "verifier exited with rc=3; no reward file found at"],
  [0, "", "verifier_failure", "No reward file found at"],
  [1, "pip: No matching distribution found for x", "verifier_dep_install", "rc=1; no reward"],
])(
  "exit %i with output %j and no reward is %s (C-17, C-18)",
  async (exitCode, prints, category, text) => {
    const { report } = await verify({ tests: { exitCode, prints } });
    expect(report.evidence).toMatchObject({
      kind: "error",
      error: { category, message: expect.stringContaining(`verifier crashed: `) },
    });
    expect(JSON.stringify(report.evidence)).toContain(text);
    expect(JSON.stringify(report.evidence)).toContain(
      "jobs/job/task__00000001/verifier/reward.txt",
    );
  },
);

test.each([
  ["maybe", "Failed to parse rewards from text file"],
  ["2.5", "must contain a finite numeric reward between 0.0 and 1.0"],
  ["", "Reward file is empty at"],
])("reward text %j is an error and no zero", async (content, text) => {
  const { report } = await verify({ verdict: [entry("verifier/reward.txt", { content })] });
  expect(report.evidence).toMatchObject({
    error: { category: "verifier_failure", message: expect.stringContaining(text) },
  });
});

test("a zero beside a tool that was not found is a zero with a warning (C-19)", async () => {
  const { report } = await verify({
    tests: { prints: "test.sh: line 3: uvx: command not found\n" },
    verdict: [entry("verifier/reward.txt", { content: "0" })],
  });
  expect(report.evidence).toEqual({ kind: "rewards", rewards: { reward: 0 } });
  expect(report.warnings).toEqual([expect.stringContaining("could not find or install")]);
});

test("a time-out with output is a time-out whatever reward was written", async () => {
  const { report, sandbox } = await verify({
    tests: { timedOut: true, prints: "slow" },
    verdict: [entry("verifier/reward.txt", { content: "1" })],
  });
  expect(report.evidence).toEqual({
    kind: "error",
    error: { category: "verifier_timeout", message: "verifier timed out after 5.0s" },
  });
  expect(report.timeout).toEqual({ timeout_budget_sec: 5, elapsed_sec: 7, task_name: "task" });
  expect(sandbox.commands).toHaveLength(2);
});

test("a time-out without one byte is run once more, on an empty folder", async () => {
  const { report, sandbox } = await verify({
    tests: { timedOut: true },
    again: [{}, { prints: "ok" }],
    verdict: [entry("verifier/reward.txt", { content: "0" })],
  });
  expect(report.evidence).toMatchObject({ kind: "rewards", rewards: { reward: 0 } });
  expect(sandbox.commands[2]?.argv.join(" ")).toContain("rm -rf /logs/verifier");
  expect(sandbox.commands).toHaveLength(4);
  const twice = await verify({ tests: { timedOut: true }, again: [{}, { timedOut: true }] });
  expect(twice.report.evidence).toMatchObject({ error: { category: "verifier_timeout" } });
  expect(twice.sandbox.commands).toHaveLength(4);
  expect([report.failures, twice.report.failures]).toEqual([1, 2]);
});

test("how often the verifier gave no verdict is counted, whatever kept it from one", async () => {
  const verdict = [entry("verifier/reward.txt", { content: "1" })];
  expect((await verify({ verdict })).report.failures).toBe(0);
  expect((await verify({})).report.failures).toBe(1);
  expect((await verify({ hardening: { exitCode: 1 } })).report.failures).toBe(1);
});

test("a verifier whose processes cannot be ended gives no verdict", async () => {
  const { report } = await verify({
    left: [2],
    verdict: [entry("verifier/reward.txt", { content: "1" })],
  });
  expect(report.evidence).toMatchObject({
    kind: "error",
    error: {
      category: "verifier_infra",
      message:
        "verifier crashed: Verifier setup failed: 2 processes of the verifier cannot be ended",
    },
  });
});

test.each([
  [{ exitCode: 3, prints: "failed no home\0" }, "hardening: no home"],
  [{ exitCode: 1, prints: "uid 0\0" }, "hardening exited with rc=1"],
  [{ prints: "uid 0\0home /root\0" }, "hardening exited with rc=0"],
  [{ prints: "uid 0\0report \0done \0", droppedBytes: 1 }, "hardening exited with rc=0"],
  [{ timedOut: true }, "hardening took over 180 s"],
])(
  "hardening that did not end is infrastructure, and no test runs: %j",
  async (hardening, text) => {
    const { report, sandbox } = await verify({ hardening });
    expect(report.evidence).toMatchObject({
      error: { category: "verifier_infra", message: expect.stringContaining(text) },
    });
    expect(sandbox.commands).toHaveLength(1);
    expect(report.exitCode).toBeNull();
  },
);

test("tests that lead out of the task are the task's fault, and nothing is sent", async () => {
  const taskDir = await aTask();
  await symlink("/etc/passwd", join(taskDir, "tests", "secret"));
  const { report, sandbox } = await verify({
    request: { taskDir, testsDir: join(taskDir, "tests") },
  });
  expect(report.evidence).toMatchObject({ error: { category: "verifier_failure" } });
  expect(sandbox.commands).toHaveLength(0);
});

test("a lost sandbox and a stop by the person are not called a verifier's failure", async () => {
  const lost = new SandboxError("lost", "the sandbox is gone");
  await expect(verify({ tests: { throws: lost } })).rejects.toThrow(lost);
  const stopped = new Error("stopped");
  await expect(verify({ tests: { throws: stopped } })).rejects.toThrow(stopped);
});

test("a computed reward is written back, and the verifier's own bytes stay beside it", async () => {
  const written = '{"metrics":{"a":0.5,"b":1},"aggregate":{"method":"mean"}}';
  const { report, files } = await verify({
    verdict: [entry("verifier/reward.json", { content: written })],
  });
  expect(report.evidence).toMatchObject({ rewards: { reward: 0.75 } });
  expect(JSON.parse(files.text("verifier/reward.json"))).toMatchObject({ reward: 0.75 });
  expect(files.text("verifier/reward-original.json")).toBe(written);
});

test("what hardening found is evidence in the attempt, and the first failing test a line", async () => {
  const { report, files } = await verify({
    hardening: {
      prints:
        "uid 0\0home /root\0path /usr/bin\0distrusted /opt/x\0report \0planted /app/conftest.py\0link /app/l\xff\0\0done \0",
    },
    verdict: [
      entry("verifier/reward.txt", { content: "0" }),
      entry("verifier/ctrf.json", {
        content:
          '{"results":{"tests":[{"name":"a","status":"passed"},{"name":"b","status":"failed","message":"no"}]}}',
      }),
    ],
  });
  expect(report.firstFailedTest).toBe("b failed: no");
  expect(JSON.parse(files.text("verifier/hardening.json"))).toMatchObject({
    removed_code: ["/app/conftest.py"],
    distrusted_folders: ["/opt/x"],
  });
});

test("a name that looks like a record cannot change who verifies or what is trusted", async () => {
  const { sandbox } = await verify({
    hardening: {
      prints:
        "uid 0\0home /root\0path /usr/bin\0report \0planted x\0path /app/bin\0uid 10001\0\0done \0",
    },
  });
  expect(sandbox.commands[1]).toMatchObject({ uid: 0, env: { PATH: "/usr/bin" } });
});
