import { describe, expect, test } from "vitest";
import { SandboxError } from "../../core/ports/sandbox.ts";
import type { AgentEnd } from "../../core/outcome/trial-evidence.ts";
import { type Agent, NO_USAGE } from "../../runner/agents/agent.ts";
import { giveReward, type TaskPlay } from "../fakes/trial-programs.ts";
import { aScene, type Scene, startTrials, until, verdictOf } from "./run-scene.ts";

/** An agent that does its work and ends as the test says. */
function endingAs(end: AgentEnd): Agent {
  return {
    name: "ending",
    runsAs: "agent-user",
    needsSolution: false,
    models: null,
    mounts: [],
    run: async ({ sandbox, uid, workdir }) => {
      await sandbox.exec({ argv: ["bash", "work"], uid, cwd: workdir, env: {} });
      return {
        agentName: "ending 1.0",
        end,
        toolCalls: 3,
        skillInvocations: 0,
        prompts: [],
        usage: NO_USAGE,
      };
    },
  };
}

/** Work whose verifier fails in its first `times` runs, in all attempts together. */
function verifierFails(times: number): TaskPlay {
  let left = times;
  return {
    harden: async () => {
      if (left === 0) return;
      left -= 1;
      throw new SandboxError("start-failed", "the script was killed");
    },
  };
}

/** Every attempt's record, each after the wait before it. */
async function runAll(scene: Scene, end: AgentEnd, attempts: number) {
  const { ended, records } = await startTrials(scene, { saveOutputs: true }, endingAs(end));
  for (let waits = 1; waits < attempts; waits += 1) {
    await until(() => scene.clock.sleeping === 1);
    await scene.clock.advance(2 ** waits * 1000);
  }
  await ended;
  return await records();
}

describe("work that is only verified again", () => {
  test.each(["cost", "turns", "tokens", "disk"] as const)(
    "keeps the agent's %s limit, which no error tells, through two attempts",
    async (limit) => {
      const scene = await aScene({ plays: { alpha: verifierFails(2) } });
      const found = await runAll(scene, { kind: "limit", limit, error: null }, 3);
      expect(found.map(({ outcome }) => outcome.kind)).toEqual(["unscored", "unscored", "scored"]);
      expect(found.at(-1)?.outcome).toMatchObject({ reward: 1, limit });
      expect(found.at(-1)).toMatchObject({ agentName: "ending 1.0", toolCalls: 3, error: null });
    },
  );

  test("keeps a limit that comes with an error, as one of memory does", async () => {
    const error = { category: "pipe_closed", message: "agent closed stdout" } as const;
    const scene = await aScene({ plays: { alpha: verifierFails(1) } });
    const found = await runAll(scene, { kind: "limit", limit: "memory", error }, 2);
    expect(found.at(-1)).toMatchObject({ outcome: { reward: 1, limit: "memory" }, error });
  });

  test("of a crashed agent stays the agent's own, so that no new work is drawn", async () => {
    const error = { category: "pipe_closed", message: "exit code 3" } as const;
    const scene = await aScene({ plays: { alpha: verifierFails(2) } });
    const found = await runAll(scene, { kind: "error", error, exitCode: 3 }, 3);
    expect(found.map(({ verification }) => verification?.verify_only_from)).toEqual([
      null,
      found[0]?.rolloutName,
      found[1]?.rolloutName,
    ]);
    expect(found.at(-1)?.outcome).toMatchObject({ reward: 1, limit: null });
  });

  test("is no error of the agent's when the sandbox was lost under the verifier", async () => {
    let verified = 0;
    const scene: Scene = await aScene({
      plays: {
        alpha: {
          verify: async (run) => {
            verified += 1;
            if (verified === 1) await scene.backend.vanish(run.owner.rolloutName);
            else await giveReward(run);
          },
        },
      },
    });
    const found = await runAll(scene, { kind: "completed" }, 2);
    expect(found.map(verdictOf)).toEqual(["infra_failure (infrastructure)", 1]);
    expect(found[1]).toMatchObject({ error: null });
    expect(found[1]?.verification?.verify_only_from).toBe(found[0]?.rolloutName);
  });
});
