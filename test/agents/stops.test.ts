import { randomInt } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { describe, expect, test } from "vitest";
import type { TrajectoryEvent } from "../../core/model/trajectory.ts";
import { readModelJob } from "../e2e/model-run.ts";
import { scratchDir, startBench } from "../e2e/run-bench.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server/start-model-server.ts";
import {
  AGENT_MODELS,
  type AgentModel,
  type AgentName,
  CI_AGENTS,
  IS_SOAK,
  providersAt,
  readEvents,
  runTasks,
  SOLVE,
  writeSceneTask,
} from "./trial-scene.ts";

const AGENTS = IS_SOAK ? AGENT_MODELS : CI_AGENTS;
const atOnce = pLimit(IS_SOAK ? 2 : 3);
/** Codex and Copilot leave a tool alone after so long, to look after it later: a limit has to come before. */
const YIELD_SEC = 30;
const YIELDING: ReadonlySet<AgentName> = new Set(["codex", "copilot"]);
const TELL_MS = IS_SOAK ? 5_000 : 2_000;
const TEST = { timeout: 900_000 };

/** Until an agent's second tool surely runs: the heavier ones need a minute of a loaded machine. */
function startSec(agent: AgentName): number {
  if (YIELDING.has(agent)) return YIELD_SEC / 2;
  return IS_SOAK ? 60 : 15;
}

/** Solves the task, then starts what ends after days; the number tells it from any other's. */
async function aWaitingModel(agent: AgentName): Promise<{ server: ModelServer; marker: string }> {
  const marker = `timeout ${String(randomInt(300_000, 3_000_000))} tail -f /dev/null`;
  const args = { cmd: marker, yield_time_ms: YIELD_SEC * 1000 };
  const wait = agent === "codex" ? { calls: [{ tool: "exec_command", args }] } : { shell: marker };
  const turns = [{ shell: SOLVE }, wait, { text: "It never ends." }];
  return { server: await startModelServer({ turns }), marker };
}

/** Tells in its rewards what was left running: of the agent's user, and of its tools. */
const COUNTING_TEST = `left=0
for each in /proc/[0-9]*; do
  line=$(tr '\\0' ' ' < $each/cmdline 2>/dev/null)
  [ "$(stat -c %U $each 2>/dev/null)" = agent ] && left=$((left + 1))
  case $line in *"tail -f /dev/null"*) left=$((left + 1));; esac
done
printf '{"reward": %s, "left": %d}\\n' "$(cat /app/answer || echo 0)" "$left" > /logs/verifier/reward.json`;

/** Processes of this machine whose command line holds the words. */
async function processesWith(words: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/u.test(pid)) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (line.replaceAll("\0", " ").includes(words)) found.push(pid);
  }
  return found;
}

/** What the agent had done when it was cut off: its first tool had ended, its second one had begun. */
function checkKept(events: readonly TrajectoryEvent[]): void {
  expect(events[0]).toMatchObject({ type: "user_message" });
  const calls = events.flatMap((event) => (event.type === "tool_call" ? [event] : []));
  expect(calls).toHaveLength(2);
  expect(calls[0]).toMatchObject({ status: "completed" });
  expect(calls[1]).toMatchObject({ kind: "execute" });
}

interface LimitCase extends AgentModel {
  readonly limit: "wall-clock" | "idle";
  readonly wallSec: number;
  readonly idleSec: number;
  readonly category: string;
  /** Words of the error. */
  readonly says: string;
}

function limitsOf({ agent, model }: AgentModel): LimitCase[] {
  const wallSec = startSec(agent);
  const wall = { limit: "wall-clock", wallSec, idleSec: 0, category: "timeout" } as const;
  // A tool that runs is a sign of life for three times as long.
  const idle = {
    limit: "idle",
    wallSec: 900,
    idleSec: wallSec / 3,
    category: "idle_timeout",
  } as const;
  return [
    { agent, model, ...wall, says: "wall-clock budget" },
    { agent, model, ...idle, says: "a tool call that never ended" },
  ];
}

describe.concurrent("while a tool runs", () => {
  test.for(AGENTS.flatMap(limitsOf))(
    "$agent's $limit limit leaves no process, a graded workspace and the record up to then",
    TEST,
    async ({ agent, model, limit, wallSec, idleSec, category, says }) => {
      await atOnce(async () => {
        await using scratch = await scratchDir();
        const dir = scratch.path;
        const { server, marker } = await aWaitingModel(agent);
        try {
          await writeSceneTask(dir, { agentSec: wallSec, test: COUNTING_TEST });
          const over = { agentIdleTimeoutSec: idleSec };
          await runTasks({ agent, model, dir, origin: server.origin, over });
        } finally {
          await server.close();
        }
        const [trial] = (await readModelJob(join(dir, "jobs"))).trials;
        expect(trial?.result.verifier_error).toBeNull();
        expect(trial?.result).toMatchObject({
          outcome: { kind: "scored", reward: 1, passed: true, limit },
          error_category: category,
          rewards: { reward: 1, left: 0 },
          n_tool_calls: 2,
        });
        expect(trial?.result.error).toContain(says);
        checkKept(await readEvents(trial?.dir ?? ""));
        expect(trial?.rows.filter(({ purpose }) => purpose === "main")).toHaveLength(2);
        expect(await processesWith(marker)).toEqual([]);
      });
    },
  );

  test.for(AGENTS)(
    "Ctrl-C ends $agent, its tool and its sandbox, and keeps the record up to then",
    TEST,
    async ({ agent, model }) => {
      await atOnce(async () => {
        await using scratch = await scratchDir();
        const dir = scratch.path;
        const { server, marker } = await aWaitingModel(agent);
        try {
          await writeSceneTask(dir, { agentSec: 900 });
          const args = ["run", "tasks", "-a", agent, "-m", model, "--env", "local"];
          const bench = startBench(args, { cwd: dir, env: providersAt(server.origin) });
          const ended = bench.ended.then(({ stderr }) => stderr);
          while ((await processesWith(marker)).length === 0)
            if ((await Promise.race([ended, sleep(200, null)])) !== null)
              throw new Error(`it ended before its tool ran: ${await ended}`);
          // The agent tells of its tool a moment after it has started it.
          await sleep(TELL_MS);
          bench.kill("SIGINT");
          const { code, stderr } = await bench.ended;
          expect(code, stderr).toBe(130);
        } finally {
          await server.close();
        }
        expect(await processesWith(marker)).toEqual([]);
        const [trial] = (await readModelJob(join(dir, "jobs"))).trials;
        expect(trial?.result).toMatchObject({
          outcome: { kind: "unscored", category: "interrupted", fault: "infrastructure" },
          rewards: null,
        });
        checkKept(await readEvents(trial?.dir ?? ""));
        const id = trial?.result.sandbox_id ?? "";
        expect(id).not.toBe("");
        expect(await processesWith(id)).toEqual([]);
        const list = await startBench(["sandbox", "list", "--json"], {
          cwd: dir,
          env: providersAt("http://x"),
        }).ended;
        expect(list.stdout).not.toContain(id);
      });
    },
  );
});
