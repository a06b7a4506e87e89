import { readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { GOOD, tempFolder, writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { bench, benchWith } from "./run-bench.ts";

const SECRET = "s3cr3t/of-the+person=0123456789";
const SKILL = "---\nname: one\ndescription: What it is for.\n---\n";

/** A folder with a task that has a skill, one that has none, and `bench run --dry-run` there. */
async function twoTasks() {
  const root = await tempFolder();
  await writeFiles(join(root, "tasks/skilled"), {
    ...GOOD,
    "environment/skills/one/SKILL.md": SKILL,
  });
  await writeFiles(join(root, "tasks/plain"), GOOD);
  const env = {
    BENCHFLOW_STATE_DIR: join(root, "state"),
    ANTHROPIC_API_KEY: "sk-fake",
    SEARCH_TOKEN: SECRET,
  };
  const tasks = join(root, "tasks");
  const args = ["run", tasks, "-a", "claude", "-m", "anthropic/claude-haiku-4-5"];
  const run = async (...more: string[]) =>
    await benchWith(
      env,
      root,
      ...args,
      "-o",
      join(root, "jobs"),
      "--env",
      "local",
      "--dry-run",
      ...more,
    );
  return { root, run };
}

interface ShownPlan {
  readonly settingsDigest: string;
  readonly scoreSettings: Readonly<Record<string, unknown>>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly tasks: readonly { readonly name: string }[];
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

async function planOf(run: (...more: string[]) => Promise<{ out: string }>, ...more: string[]) {
  const { out } = await run("--json", ...more);
  return { out, plan: JSON.parse(out) as ShownPlan };
}

describe("what a person wishes of an agent is in the plan and its digest", () => {
  test.each([
    [["--prompt", "A", "--prompt", "B"], { prompts: ["A", "B"] }, { prompts: ["A", "B"] }],
    [
      ["--extra-instruction", "A"],
      { extraInstructions: ["A"] },
      { extra_instructions: ["A"], prompts: [] },
    ],
    [["--agent-env", "STYLE=a=b"], { agentEnv: { STYLE: "a=b" } }, { agent_env: { STYLE: "a=b" } }],
    [["--reasoning-effort", "high"], { reasoningEffort: "high" }, { reasoning_effort: "high" }],
    [["--agent-idle-timeout", "none"], { agentIdleTimeoutSec: 0 }, { agent_idle_timeout_sec: 0 }],
    [["--sandbox-user", "dev"], { sandboxUser: "dev" }, { sandbox_user: "dev" }],
  ])("%j", async (flags, settings, score) => {
    const { root, run } = await twoTasks();
    const plain = await planOf(run);
    const { plan } = await planOf(run, ...flags);
    expect(plan).toMatchObject({ settings, scoreSettings: score });
    expect(plan.settingsDigest).not.toBe(plain.plan.settingsDigest);
    expect(await readdir(root)).toEqual(["tasks"]);
  });

  test("a secret variable by its mark alone, from this machine or from the command line", async () => {
    const { run } = await twoTasks();
    const named = await planOf(run, "--agent-env", "SEARCH_TOKEN");
    const typed = await planOf(run, "--agent-env", `SEARCH_TOKEN=${SECRET}`);
    const other = await planOf(run, "--agent-env", `SEARCH_TOKEN=${SECRET}x`);
    expect(named.plan.settingsDigest).toBe(typed.plan.settingsDigest);
    expect(other.plan.settingsDigest).not.toBe(typed.plan.settingsDigest);
    for (const { out } of [named, typed, other]) expect(out).not.toContain(SECRET);
    expect(named.plan.settings).toMatchObject({ agentEnv: { SEARCH_TOKEN: "***REDACTED***" } });
  });

  test("the tasks' own skills, where each task has some", async () => {
    const { run } = await twoTasks();
    const { plan } = await planOf(run, "--skill-mode", "with-skill");
    expect(plan.scoreSettings).toMatchObject({ skill_mode: "with-skill", skills: [] });
    expect(plan.tasks.map(({ name }) => name)).toEqual(["skilled"]);
    expect(plan.skipped.map(({ name }) => name)).toEqual(["plain"]);
    expect(plan.skipped[0]?.reason).toMatch(/^it brings no skills/u);
  });

  test("the person's skills, by what is in them and not by where they lie", async () => {
    const { root, run } = await twoTasks();
    const digestOf = async (folder: string, text: string): Promise<unknown> => {
      await writeFiles(join(root, folder), { "one/SKILL.md": text });
      const flags = ["--skill-mode", "with-skill", "--skills-dir", folder];
      const { plan } = await planOf(run, ...flags);
      expect(plan.tasks).toHaveLength(2);
      expect(JSON.stringify(plan.scoreSettings)).not.toContain(root);
      return plan.settingsDigest;
    };
    const first = await digestOf("a", SKILL);
    expect(await digestOf("b/c", SKILL)).toBe(first);
    expect(await digestOf("a", `${SKILL}more`)).not.toBe(first);
  });
});

describe("what an agent cannot be given is refused before anything is made", () => {
  test.each([
    [["--agent-env", "PATH=/x"], "--agent-env PATH: it would change how the agent is started"],
    [["--agent-env", "ANTHROPIC_API_KEY"], "--agent-env ANTHROPIC_API_KEY: variables of providers"],
    [["--agent-env", "ANTHROPIC_MODEL=x"], "ANTHROPIC_MODEL: agent claude is set up by it"],
    [["--agent-env", "HTTPS_PROXY=x"], "HTTPS_PROXY: it would lead the agent past its model proxy"],
    [["--agent-env", "NOT_THERE"], "NOT_THERE is not set on this machine"],
    [["--agent-env", "A-B=c"], '--agent-env takes NAME=VALUE, not "A-B"'],
    [["--prompt", " "], "--prompt takes a value"],
    [["--skill-mode", "self-gen"], "--skill-mode self-gen is not built yet"],
    [["--skill-mode", "some"], "--skill-mode takes one of no-skill, with-skill"],
    [["--skills-dir", "tasks"], "--skills-dir gives skills to a run without skills"],
    [["--skill-mode", "with-skill", "--skills-dir", "tasks"], "no folder in it has a SKILL.md"],
    [["--skill-mode", "with-skill", "--skills-dir", "nosuch"], "--skills-dir nosuch: "],
    [["--skill-mode", "with-skill", "-a", "acp:x"], "agent acp:x looks for skills in no folder"],
    [["--sandbox-user", "none"], "an agent that is root cannot be kept apart from its verifier"],
    [["--sandbox-user", "root"], "an agent that is root"],
    [["--sandbox-user", "a b"], "a name of small letters"],
    [["-a", "oracle", "--prompt", "x"], "agent oracle is asked nothing"],
    [["-a", "nop", "--extra-instruction", "x"], "agent nop is asked nothing"],
    [["-a", "oracle", "--agent-env", "A=b"], "agent oracle is given no variables"],
    [["-a", "gemini", "--reasoning-effort", "high"], "agent gemini has no reasoning effort to set"],
  ])("%j", async (flags, message) => {
    const { root, run } = await twoTasks();
    await expect(run(...flags)).rejects.toMatchObject({ kind: "usage" });
    await expect(run(...flags)).rejects.toThrow(message);
    expect(await readdir(root)).toEqual(["tasks"]);
  });

  test("a link in a folder of skills, which would carry another file into sandboxes", async () => {
    const { root, run } = await twoTasks();
    await writeFiles(join(root, "mine"), { "one/SKILL.md": SKILL });
    await symlink("/etc/passwd", join(root, "mine/one/more.md"));
    const flags = ["--skill-mode", "with-skill", "--skills-dir", "mine"];
    await expect(run(...flags)).rejects.toThrow(/one\/more\.md is neither a file nor a folder/u);
  });

  test("the value of a variable is in no message", async () => {
    const { run } = await twoTasks();
    const refused = await run("--agent-env", `LD_PRELOAD=${SECRET}`).catch(String);
    expect(refused).toContain("LD_PRELOAD");
    expect(refused).not.toContain(SECRET);
  });
});

test("run --help tells how an agent's prompts, variables and skills are chosen", async () => {
  const { out } = await bench(".", "run", "--help");
  for (const flag of [
    "--prompt",
    "--extra-instruction",
    "--agent-env",
    "--skill-mode",
    "--skills-dir",
  ])
    expect(out).toContain(flag);
});

describe("a task with MCP servers", () => {
  const SERVER =
    '\n[[environment.mcp_servers]]\nname = "tide"\ntransport = "stdio"\ncommand = "tide"\n';

  /** A dry run of the task with codex on that model. */
  async function planWith(model: string) {
    const root = await tempFolder();
    const toml = `${GOOD["task.toml"] ?? ""}${SERVER}`;
    await writeFiles(join(root, "tasks/served"), { ...GOOD, "task.toml": toml });
    const env = {
      BENCHFLOW_STATE_DIR: join(root, "state"),
      OPENAI_API_KEY: "sk-fake",
      ANTHROPIC_API_KEY: "sk-fake",
    };
    const args = ["run", join(root, "tasks"), "-a", "codex", "-m", model, "--dry-run"];
    return await benchWith(env, root, ...args, "--env", "local");
  }

  test("is refused to codex on a model of another dialect, which could not find their tools", async () => {
    await expect(planWith("anthropic/claude-haiku-4-5")).rejects.toThrow(
      "agent codex-acp offers its model of another dialect none, and would work without them",
    );
    expect(await planWith("openai/gpt-5.5")).toMatchObject({ code: 0 });
  });
});
