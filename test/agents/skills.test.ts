import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { scratchDir } from "../e2e/run-bench.ts";
import { AGENTS, runWish } from "./wish-scene.ts";

const LORE = "Knows how greetings are spelt in the harbour of Kiel";

async function addSkill(folder: string): Promise<void> {
  await mkdir(join(folder, "harbour-greetings"), { recursive: true });
  const text = `---\nname: harbour-greetings\ndescription: ${LORE}\n---\n\nSay moin.\n`;
  await writeFile(join(folder, "harbour-greetings/SKILL.md"), text);
}

describe("a task's skills", () => {
  test.for([
    ...AGENTS.map((agent) => ({ agent, env: "local" as const })),
    { agent: "codex" as const, env: "docker" as const },
  ])("are told to the model of $agent on $env", async ({ agent, env }) => {
    await using scratch = await scratchDir();
    const script = {
      turns: [
        {
          shell:
            "cat /skills/harbour-greetings/SKILL.md > /app/lore; touch /skills/mine; echo 'Hello, world!' > /app/hello.txt",
        },
        { text: "done" },
      ],
    };
    const { run, trial, asked, config } = await runWish(scratch.path, {
      agent,
      env,
      script,
      args: ["--skill-mode", "with-skill"],
      prepare: async (task) => {
        await addSkill(join(task, "environment/skills"));
        const check = `grep -q moin /app/lore && [ ! -e /skills/mine ] && r=1 || r=0`;
        await writeFile(
          join(task, "tests/test.sh"),
          `#!/bin/bash\n${check}\necho $r > /logs/verifier/reward.txt\n`,
        );
      },
    });
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(trial.result.outcome).toMatchObject({ kind: "scored", reward: 1 });
    expect(asked.some((body) => body.includes(LORE))).toBe(true);
    const skills = { skill_mode: "with-skill", skill_source: "task_bundled" };
    const place = { skills_sandbox_dir: "/skills", effective_skills_dir: "environment/skills" };
    expect(trial.result).toMatchObject({ ...skills, ...place });
    expect(config).toMatchObject({ ...skills, ...place });
  });
});

describe("variables of the person's own", () => {
  const SECRET = "s3cr3t/of-the+person=0123456789";

  test.for([
    { agent: "claude", env: "local" },
    { agent: "codex", env: "docker" },
  ] as const)(
    "reach $agent on $env, and a secret one no file and no command line",
    async (where) => {
      await using scratch = await scratchDir();
      const script = {
        turns: [
          {
            shell: "echo \"$SEARCH_TOKEN $LANGUAGE_STYLE\"; echo 'Hello, world!' > /app/hello.txt",
          },
          { text: "done" },
        ],
      };
      const args = ["--agent-env", "SEARCH_TOKEN", "--agent-env", "LANGUAGE_STYLE=terse"];
      const watched = watchCommandLines(SECRET);
      const shown = watchCommandLines("LANGUAGE_STYLE=terse");
      const { run, trial, read, config, asked } = await runWish(scratch.path, {
        ...where,
        script,
        args,
        hostEnv: { SEARCH_TOKEN: SECRET },
      });
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect(trial.result.outcome).toMatchObject({ kind: "scored", reward: 1 });
      // The tool printed it, so the agent had it; what is recorded of that has it no more.
      expect(asked.some((body) => body.includes(`${SECRET} terse`))).toBe(true);
      expect(await read("trajectory/acp_trajectory.jsonl")).toContain("terse");
      expect(config.agent_env).toEqual({ LANGUAGE_STYLE: "terse" });
      expect(config.scenes[0]?.roles[0]?.env_keys).toEqual(["LANGUAGE_STYLE", "SEARCH_TOKEN"]);
      const found = await filesWith(scratch.path, [SECRET, JSON.stringify(SECRET).slice(1, -1)]);
      expect(found).toEqual([]);
      expect(run.stdout + run.stderr).not.toContain(SECRET);
      expect(shown.end()).not.toEqual([]);
      expect(watched.end()).toEqual([]);
    },
  );
});

/** Command lines of this machine, the sandboxes' too, in which a text stands, looked for again and again. */
function watchCommandLines(text: string): { readonly end: () => string[] } {
  const found = new Set<string>();
  const look = (): void => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/u.test(name))) {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "latin1");
        if (line.includes(text)) found.add(line);
      } catch {
        // Ended meanwhile.
      }
    }
  };
  const timer = setInterval(look, 25);
  onTestFinished(() => clearInterval(timer));
  return { end: () => [...found] };
}

async function filesWith(dir: string, texts: readonly string[]): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries.flatMap((each) =>
    each.isFile() ? [join(each.parentPath, each.name)] : [],
  );
  const found = await Promise.all(
    paths.map(async (path) => {
      const content = await readFile(path, "latin1");
      return texts.some((text) => content.includes(text)) ? [path] : [];
    }),
  );
  return found.flat();
}
