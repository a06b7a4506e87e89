import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import { type Agent, type AgentRun, NO_USAGE } from "../../runner/agents/agent.ts";
import { tempFolder, writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { aScene, startTrials } from "./run-scene.ts";

const SKILL = "---\nname: one\ndescription: What it is for.\n---\n";

/** One trial of one task that brings a skill; what its image and its agent were given. */
async function runSkilled(over: Partial<RunSettingsInput>) {
  const scene = await aScene({ plays: { alpha: {} } });
  await writeFiles(join(scene.tasksDir, "alpha"), {
    "environment/skills/one/SKILL.md": SKILL,
    "environment/skills/one/run.sh": "echo 1\n",
  });
  const given: Pick<AgentRun, "conversation" | "skillsPath">[] = [];
  const listed: string[] = [];
  const agent: Agent = {
    name: "nop",
    runsAs: "agent-user",
    needsSolution: false,
    models: null,
    mounts: [],
    run: async ({ conversation, skillsPath = null, sandbox }) => {
      given.push({ skillsPath, ...(conversation === undefined ? {} : { conversation }) });
      for await (const chunk of sandbox.get("/"))
        listed.push(new TextDecoder("latin1").decode(chunk));
      const end = { kind: "completed" } as const;
      const counts = { toolCalls: 0, skillInvocations: 0, prompts: [] };
      return { agentName: "nop", end, ...counts, usage: NO_USAGE };
    },
  };
  const { ended } = await startTrials(scene, { agent: "nop", ...over }, agent);
  expect(await ended).toBe(1);
  const leaveOut = scene.backend.prepared[0]?.leaveOut;
  return { leaveOut, given: given[0], tar: listed.join("") };
}

test("without skills a task's own are in neither its image nor its sandbox", async () => {
  const { leaveOut, given, tar } = await runSkilled({});
  expect(leaveOut).toEqual(["skills"]);
  expect(given).toMatchObject({ skillsPath: null });
  expect(tar).not.toContain("SKILL.md");
});

test("with skills a task's own are in both, for its agent to read", async () => {
  const { leaveOut, given, tar } = await runSkilled({ skillMode: "with-skill" });
  expect(leaveOut).toEqual([]);
  expect(given).toMatchObject({ skillsPath: "/skills" });
  expect(tar).toContain("skills/one/SKILL.md");
  expect(tar).toContain("What it is for.");
});

test("with a person's skills those stand in the place of the task's", async () => {
  const dir = await tempFolder();
  await writeFiles(dir, { "two/SKILL.md": `${SKILL}mine` });
  const { leaveOut, tar } = await runSkilled({ skillMode: "with-skill", skillsDir: dir });
  expect(leaveOut).toEqual(["skills"]);
  expect(tar).toContain("skills/two/SKILL.md");
  expect(tar).not.toContain("skills/one/SKILL.md");
});

test("what is to be said goes to the agent as the run wishes it", async () => {
  const { given } = await runSkilled({ prompts: ["A", "B"], extraInstructions: ["C"] });
  expect(given?.conversation?.openings.map(({ prompt }) => prompt)).toEqual(["A\n\nC", "B"]);
});
