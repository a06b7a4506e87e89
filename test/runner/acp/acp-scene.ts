import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TrajectoryEvent } from "../../../core/model/trajectory.ts";
import type { OpenModels } from "../../../core/ports/model-access.ts";
import type { ConversationPlan } from "../../../core/tasks/conversation.ts";
import type { Sandbox } from "../../../core/ports/sandbox.ts";
import type { AgentReport } from "../../../runner/agents/agent.ts";
import { type AcpLaunch, runAcpAgent } from "../../../runner/acp/run-acp-agent.ts";
import { packFile } from "../../../runner/pack-file.ts";
import { Trajectory } from "../../../runner/trajectory.ts";
import { aTask } from "../../core/plan/plan-builders.ts";
import { attemptFiles, type AttemptFiles } from "../verifier/attempt-files.ts";

export const AGENT_UID = 10_001;
export const TOKEN = "bench-0123456789abcdef0123456789abcdef";
const PATH = "/usr/local/bin:/usr/bin:/bin";
const AGENT = join(import.meta.dirname, "../../fixtures/acp-agent/agent.mjs");

export interface Wish {
  /** How the scripted agent behaves. */
  readonly way: Readonly<Record<string, unknown>>;
  readonly wallSec?: number;
  readonly idleSec?: number;
  readonly launch?: Partial<AcpLaunch>;
  readonly session?: Partial<AcpLaunch["session"]>;
  readonly conversation?: ConversationPlan;
  readonly models?: Partial<OpenModels>;
  readonly signal?: AbortSignal;
}

export interface Ran {
  readonly report: AgentReport;
  readonly events: readonly TrajectoryEvent[];
  readonly log: string;
  readonly files: AttemptFiles;
}

/** Models that are never asked: the scripted agent calls none. */
export function someModels(over: Partial<OpenModels> = {}): OpenModels {
  return {
    protocol: "anthropic-messages",
    origin: "http://127.0.0.1:1",
    token: TOKEN,
    model: "model-1",
    contextTokens: null,
    maxOutputTokens: null,
    heldMs: () => 0,
    stopped: () => null,
    stop: () => undefined,
    close: () => Promise.reject(new Error("closed by the runner, not by the agent")),
    ...over,
  };
}

/** Puts the scripted agent into a sandbox and lets it work there. */
export async function runScripted(sandbox: Sandbox, wish: Wish): Promise<Ran> {
  const files = await attemptFiles();
  const trajectory = await Trajectory.open(files.folder);
  await sandbox.put(packFile("agent.mjs", readFileSync(AGENT), 0o644), "/opt/scripted");
  await sandbox.exec({
    argv: ["/bin/sh", "-c", `mkdir -p /work && chown ${String(AGENT_UID)} /work`],
    uid: 0,
    cwd: "/",
    env: { PATH },
  });
  const launch: AcpLaunch = {
    name: "scripted",
    command: {
      argv: ["node", "/opt/scripted/agent.mjs", JSON.stringify(wish.way)],
      env: { PATH, HOME: "/work", AGENT_WORD: "hello" },
    },
    session: {
      mcpServers: [],
      meta: {},
      authenticate: null,
      calls: [],
      model: "model-1",
      effort: null,
      effortOption: null,
      confirm: { model: "model", effort: null },
      ...wish.session,
    },
    ignoresEnd: false,
    times: { stepMs: 10_000, cancelGraceMs: 500, inputEndMs: 1_000 },
    ...wish.launch,
  };
  const { wallSec = 30, idleSec = 20, models = {} } = wish;
  const report = await runAcpAgent(
    launch,
    {
      spec: {
        task: aTask("task", { prompt: "Write the answer." }),
        settingsDigest: "sha256:0",
        attempt: 1,
        rolloutName: "task__00000001",
        jobName: "job",
        runId: "run",
        agent: "scripted",
        model: "model-1",
        environment: "local",
        agentTimeoutSec: wallSec,
        verifierTimeoutSec: 60,
        idleTimeoutSec: idleSec,
        lenientRewards: false,
        saveOutputs: false,
        verifyOnlyFrom: null,
        earlierVerifierFailures: 0,
      },
      sandbox,
      folder: files.folder,
      trajectory,
      workdir: "/work",
      ...(wish.conversation === undefined ? {} : { conversation: wish.conversation }),
      env: { PATH },
      uid: AGENT_UID,
      home: "/work",
      models: someModels(models),
      signal: wish.signal ?? new AbortController().signal,
      onLine: () => undefined,
    },
    someModels(models),
  );
  await trajectory.close();
  const lines = files.text("trajectory/acp_trajectory.jsonl").split("\n").filter(Boolean);
  const events = lines.map((line) => TrajectoryEvent.parse(JSON.parse(line)));
  return { report, events, log: files.text("agent/scripted.txt"), files };
}
