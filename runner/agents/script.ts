import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { BenchError } from "../../core/errors.ts";
import { TrajectoryEvent } from "../../core/model/trajectory.ts";
import { codeOf } from "../../host/error-code.ts";
import { keptOutput, MAX_OUTPUT_BYTES } from "../output-text.ts";
import { packFile } from "../pack-file.ts";
import { type Agent, type AgentReport, type AgentRun, NO_USAGE } from "./agent.ts";
import { endOfScript } from "./oracle.ts";

const SCRIPT_DIR = "/opt/benchflow-script";

/** Tokens that a recorded session says it used; the mission page's block needs them. */
const RecordedUsage = z.object({
  type: z.literal("usage"),
  input_tokens: z.int().min(0),
  output_tokens: z.int().min(0),
});
const RecordedLine = z.union([RecordedUsage, TrajectoryEvent]);

/**
 * For tests only, hidden from help: runs the task's `agent.sh` as the agent user under every rule of
 * the agent phase, then records the events of `agent-events.jsonl` as if an agent had sent them.
 */
export const script: Agent = {
  name: "script",
  runsAs: "agent-user",
  needsSolution: false,
  models: null,
  mounts: [],
  run: runScript,
};

/**
 * The same with a model: for tests of metering and caps. The script finds the models' address, its
 * token and the model's name in `BENCH_MODEL_ORIGIN`, `BENCH_MODEL_TOKEN` and `BENCH_MODEL_NAME`.
 */
export const modelScript: Agent = {
  ...script,
  name: "script-models",
  models: {
    protocols: ["openai-completions", "anthropic-messages", "openai-responses", "gemini"],
    aliases: [],
  },
};

async function runScript(run: AgentRun): Promise<AgentReport> {
  const { task, agentTimeoutSec } = run.spec;
  const body = await readFile(join(task.dir, "agent.sh")).catch((cause: unknown) => {
    throw new BenchError(
      "config",
      `task ${task.name} has no agent.sh, which the script agent runs`,
      {
        next: `write ${join(task.dir, "agent.sh")}`,
        cause,
      },
    );
  });
  await run.sandbox.put(packFile("agent.sh", body, 0o755), SCRIPT_DIR);
  const prompt = task.prompt;
  await run.trajectory.record({ type: "user_message", text: prompt });
  const completed = await run.sandbox.exec({
    argv: ["/bin/bash", "-c", `exec bash ${SCRIPT_DIR}/agent.sh 2>&1`],
    uid: run.uid,
    cwd: run.workdir,
    env: { ...run.env, HOME: run.home, ...modelVariables(run) },
    timeoutMs: agentTimeoutSec * 1000,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    signal: run.signal,
  });
  await run.folder.write("agent/script.txt", keptOutput(completed));
  const recorded = await readRecording(task.dir);
  for (const event of recorded.events) await run.trajectory.record(event);
  if (completed.timedOut) await run.trajectory.record(timeoutEvent(agentTimeoutSec));
  return {
    agentName: run.spec.agent,
    end: endOfScript(completed.timedOut, agentTimeoutSec),
    toolCalls: recorded.events.filter((event) => event.type === "tool_call").length,
    skillInvocations: 0,
    prompts: [prompt],
    usage: recorded.usage ?? NO_USAGE,
  };
}

function modelVariables({ models }: AgentRun): Record<string, string> {
  if (models === null) return {};
  return {
    BENCH_MODEL_ORIGIN: models.origin,
    BENCH_MODEL_TOKEN: models.token,
    BENCH_MODEL_NAME: models.model,
  };
}

async function readRecording(
  dir: string,
): Promise<{ events: TrajectoryEvent[]; usage: AgentReport["usage"] | null }> {
  const text = await readRecordingText(join(dir, "agent-events.jsonl"));
  const events: TrajectoryEvent[] = [];
  let usage: AgentReport["usage"] | null = null;
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const parsed = RecordedLine.parse(JSON.parse(line));
    if (parsed.type === "usage") usage = usageOf(parsed);
    else events.push(parsed);
  }
  return { events, usage };
}

/** A script may have no recording; one that cannot be read must not pass for none. */
async function readRecordingText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}

function usageOf(recorded: z.infer<typeof RecordedUsage>): AgentReport["usage"] {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = recorded;
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens: 0,
    cacheCreationTokens: 0,
    totalTokens: inputTokens + outputTokens,
    costUsd: null,
    usageSource: "agent_native_acp",
    priceSource: null,
  };
}

function timeoutEvent(timeoutSec: number): TrajectoryEvent {
  return {
    type: "agent_timeout",
    reason: "wall_clock_timeout",
    timeout_sec: timeoutSec,
    pending_tool_call_ids: [],
    terminal_trajectory_complete: true,
  };
}
