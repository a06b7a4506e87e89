import { appendFile, cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { checkTasks } from "../../cli/commands/tasks.ts";
import type { CliContext } from "../../cli/context.ts";

const examples = new URL("../../examples/", import.meta.url).pathname;

/** `bench tasks check --controls` on the local sandbox, with a state folder of its own. */
async function check(path: string): Promise<{ out: string; code: number }> {
  const state = await mkdtemp(join(tmpdir(), "controls-state-"));
  let out = "";
  const context: CliContext = {
    cwd: examples,
    env: { PATH: process.env["PATH"], BENCHFLOW_STATE_DIR: state },
    out: { write: (text) => void (out += text), isTerminal: false, columns: 80 },
    err: { write: () => undefined, isTerminal: false, columns: 80 },
    signal: new AbortController().signal,
  };
  try {
    const code = await checkTasks(context, path, { controls: true, env: "local" });
    return { out, code };
  } finally {
    await rm(state, { recursive: true, force: true });
  }
}

test("every example task gives the oracle 1 and nop 0", async () => {
  const { out, code } = await check("tasks");
  expect(out.trim().split("\n")).toEqual(
    ["csv-totals", "hello-file", "log-report", "sealed-box", "setup-and-health", "word-count"].map(
      (name) => `✓ ${name} — valid (structural, controls)`,
    ),
  );
  expect(code).toBe(0);
});

test("the broken example is found because an agent that does nothing passes it", async () => {
  const { out, code } = await check("broken");
  expect(out).toBe(
    "✗ already-solved — 1 issue(s):\n  → nop got reward 1.00: an agent that does nothing passes\n",
  );
  expect(code).toBe(1);
});

test("a task that this edition does not run is told so, and fails nothing", async () => {
  const dir = await mkdtemp(join(tmpdir(), "controls-refused-"));
  const name = basename(dir);
  try {
    await cp(join(examples, "tasks/hello-file"), dir, { recursive: true });
    await appendFile(join(dir, "task.toml"), "gpus = 1\n");
    const { out, code } = await check(dir);
    expect(out).toContain(`✓ ${name} — valid (structural, controls)`);
    expect(out).toMatch(/! oracle was not run: .*sandbox\.gpus: no sandbox here has GPUs/u);
    expect(code).toBe(0);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test("a service that the solution leaves running is told as the reason of the oracle's zero", async () => {
  const dir = await mkdtemp(join(tmpdir(), "controls-service-"));
  try {
    await cp(join(examples, "tasks/hello-file"), dir, { recursive: true });
    await writeFile(
      join(dir, "solution/solve.sh"),
      "#!/bin/bash\ntail -f /dev/null >/dev/null 2>&1 &\n",
    );
    await writeFile(
      join(dir, "tests/test.sh"),
      "#!/bin/bash\nexpr $(pgrep -cx tail) '>' 0 >/logs/verifier/reward.txt\n",
    );
    const { out, code } = await check(dir);
    expect(out).toContain(
      "  → oracle got reward 0.00, its solution must get 1 (what it left running was ended: its tests have to start the services that they ask)\n",
    );
    expect(code).toBe(1);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test("a task without a solution is told so for the oracle, and nop still runs on it", async () => {
  const dir = await mkdtemp(join(tmpdir(), "controls-unsolved-"));
  try {
    for (const name of ["solved", "unsolved"])
      await cp(join(examples, "tasks/hello-file"), join(dir, name), { recursive: true });
    await rm(join(dir, "unsolved/solution"), { recursive: true });
    const { out, code } = await check(dir);
    expect(out.trim().split("\n")).toEqual([
      "✓ solved — valid (structural, controls)",
      "✓ unsolved — valid (structural, controls)",
      "  ! there is no oracle/ or solution/, so nothing shows that the task can be solved",
      "  ! oracle was not run: there is no solution/solve.sh or oracle/solve.sh, the oracle runs it",
    ]);
    expect(code).toBe(0);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
