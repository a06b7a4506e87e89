import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../cli/run-program.ts";
import type { CliContext } from "../../cli/context.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cli-agents-"));
});

afterEach(() => rmSync(home, { recursive: true }));

/** Runs a command in a state folder of the test's own; what it printed, or threw. */
async function bench(...args: string[]): Promise<string> {
  const printed: string[] = [];
  const output = {
    write: (text: string) => void printed.push(text),
    isTerminal: false,
    columns: 100,
  };
  const context: CliContext = {
    cwd: home,
    env: { BENCHFLOW_STATE_DIR: join(home, "state"), PATH: join(home, "empty") },
    out: output,
    err: output,
    signal: new AbortController().signal,
  };
  await runProgram(context, args);
  return printed.join("");
}

test("agents list names each agent with its exact packages, and makes nothing", async () => {
  const text = await bench("agents", "list");
  expect(text).toMatch(/^claude-agent-acp +claude +anthropic-messages .*@0\.101\.0 +no$/mu);
  const entries: unknown = JSON.parse(await bench("agents", "list", "--json"));
  expect(entries).toContainEqual(
    expect.objectContaining({ name: "codex-acp", aliases: ["codex"], installedBytes: null }),
  );
  expect(readdirSync(home)).toEqual([]);
});

test.for([
  [["nope"], 'there is no agent "nope"'],
  [["oracle"], "agent oracle has no programs to install"],
  [["opencode", "--platform", "linux/arm64"], "agent opencode has no programs for linux/arm64"],
  [["codex", "--platform", "windows"], "is invalid"],
] as const)("agents install %j is refused", async ([args, message]) => {
  await expect(bench("agents", "install", ...args)).rejects.toThrow(message);
});

test("agents install without npm says so", async () => {
  await expect(bench("agents", "install", "codex")).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("npm could not install node"),
  });
});

test("agents prune of an empty cache removes nothing", async () => {
  expect(await bench("agents", "prune")).toBe("0 trees removed\n");
});
