import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stateDir } from "../../api/state-dir.ts";
import type { ModelProtocol, RequestRow } from "../../core/model/exchange.ts";
import { TrajectoryEvent } from "../../core/model/trajectory.ts";
import type { OpenModels } from "../../core/ports/model-access.ts";
import type { PreparedImage, Sandbox, SandboxBackend } from "../../core/ports/sandbox.ts";
import { identifyProcess } from "../../host/process-identity.ts";
import type { AgentReport } from "../../runner/agents/agent.ts";
import { chooseAgent } from "../../runner/agents/choose-agent.ts";
import { setupSandbox } from "../../runner/setup/setup-sandbox.ts";
import { stopAgent } from "../../runner/verifier/stop-agent.ts";
import { Trajectory } from "../../runner/trajectory.ts";
import { DockerSandboxes } from "../../sandboxes/docker/docker-sandboxes.ts";
import { LocalSandboxes } from "../../sandboxes/local/local-sandboxes.ts";
import { AgentTrees } from "../../stores/agents/agent-trees.ts";
import { aTask } from "../core/plan/plan-builders.ts";
import type { ModelScriptInput } from "../fakes/model-server/model-script.ts";
import type { ModelServer } from "../fakes/model-server/start-model-server.ts";
import { aModelServer, aProxy, atEnd, MODEL } from "../runner/proxy/proxy-fixture.ts";
import { translatingUpstream } from "../runner/translation/translating-proxy.ts";
import { type AttemptFiles, attemptFiles } from "../runner/verifier/attempt-files.ts";
import { dockerHost } from "../setup/docker-host.ts";

const WORKDIR = "/app";
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const OWNER = {
  runId: "agents-run",
  jobName: "job",
  rolloutName: "task__0000000b",
  process: identifyProcess(),
  leaseMs: 600_000,
};
const LIMITS = { cpus: 2, memoryMb: 4096, storageMb: 2048, pids: 512 };

/** Real agents' programs, kept beside everything else that this machine's runs share. */
const trees = new AgentTrees({
  dir: join(stateDir(process.env), "agents"),
  env: process.env,
});

export interface OpenBackend {
  readonly backend: SandboxBackend;
  readonly image: PreparedImage;
  close(): Promise<void>;
}

export async function openBackend(kind: "local" | "docker"): Promise<OpenBackend> {
  const folder = mkdtempSync(join(tmpdir(), "bench-agents-"));
  const backend: SandboxBackend =
    kind === "local"
      ? await LocalSandboxes.open({ stateDir: folder, localInclude: [] })
      : await DockerSandboxes.connect({ env: { DOCKER_HOST: dockerHost() } });
  const image = await backend.prepare({
    owner: OWNER,
    limits: LIMITS,
    signal: new AbortController().signal,
    source: {
      kind: "prebuilt",
      reference: kind === "local" ? "debian:bookworm-slim" : "bench-base:debian",
    },
    contextDir: folder,
    baseImageMap: {},
    timeoutMs: 60_000,
    onLine: () => undefined,
  });
  return {
    backend,
    image,
    close: async () => {
      await backend.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface AgentWish {
  readonly agent: string;
  readonly effort?: string;
  readonly prompt: string;
  readonly script: Partial<ModelScriptInput>;
  /** What the provider speaks, where that is not the agent's own dialect. */
  readonly provider?: ModelProtocol;
  readonly wallSec?: number;
  readonly idleSec?: number;
}

export interface AgentRan {
  readonly report: AgentReport;
  readonly events: readonly TrajectoryEvent[];
  readonly rows: readonly RequestRow[];
  readonly server: ModelServer;
  readonly files: AttemptFiles;
  readonly sandbox: Sandbox;
  /** The trial's own, which its sandbox may hold and no record. */
  readonly token: string;
}

/** One real agent on one prompt: its sandbox set up as a trial's is, its models behind a real proxy. */
export async function runAgent(
  { backend, image }: OpenBackend,
  wish: AgentWish,
): Promise<AgentRan> {
  const { signal } = new AbortController();
  const chosen = chooseAgent(wish.agent, { effort: wish.effort ?? null });
  const installed = await chosen.install?.({
    trees,
    platform: backend.caps.platform,
    signal,
    onInstall: () => undefined,
  });
  const agent = installed?.agent ?? chosen;
  const sandbox = await backend.create({
    owner: OWNER,
    limits: LIMITS,
    image,
    network: "closed",
    env: {},
    mounts: agent.mounts,
    signal,
  });
  atEnd(async () => {
    await sandbox.destroy();
    await installed?.release();
  });
  const ready = await setupSandbox(sandbox, { userName: "agent", workdir: WORKDIR, signal });
  const server = await aModelServer(wish.script);
  const socketDir = mkdtempSync(join(tmpdir(), "bench-agents-"));
  atEnd(async () => rmSync(socketDir, { recursive: true, force: true }));
  const socketPath = join(socketDir, "models.sock");
  const spoken = agent.models?.protocols[0] ?? "anthropic-messages";
  const { proxy, rows } = await aProxy(server.origin, {
    listen: { kind: "unix", path: socketPath },
    ...(wish.provider === undefined
      ? {}
      : { upstreams: [translatingUpstream(server.origin, spoken, wish.provider)] }),
  });
  const { port } = await sandbox.forward(socketPath);
  const models: OpenModels = {
    protocol: spoken,
    origin: `http://127.0.0.1:${String(port)}`,
    token: proxy.token,
    model: MODEL,
    contextTokens: 200_000,
    maxOutputTokens: 32_000,
    heldMs: () => proxy.totals().heldMs,
    stopped: () => proxy.stopped(),
    stop: (message) => proxy.stop("cancelled", message),
    close: () => Promise.reject(new Error("closed by the runner, not by the agent")),
  };
  const files = await attemptFiles();
  const trajectory = await Trajectory.open(files.folder);
  const mark = await sandbox.mark();
  const report = await agent.run({
    spec: {
      task: aTask("task", { prompt: wish.prompt }),
      settingsDigest: "sha256:0",
      attempt: 1,
      rolloutName: OWNER.rolloutName,
      jobName: "job",
      runId: "run",
      agent: agent.name,
      model: `xiaomi/${MODEL}`,
      environment: backend.name,
      agentTimeoutSec: wish.wallSec ?? 120,
      verifierTimeoutSec: 60,
      idleTimeoutSec: wish.idleSec ?? 60,
      lenientRewards: false,
      saveOutputs: false,
      verifyOnlyFrom: null,
    },
    sandbox,
    folder: files.folder,
    trajectory,
    workdir: ready.workdir,
    env: { PATH },
    uid: ready.agentUid,
    home: ready.agentHome,
    models,
    signal,
    onLine: () => undefined,
  });
  await stopAgent(sandbox, { uid: ready.agentUid, mark });
  await trajectory.close();
  const lines = files.text("trajectory/acp_trajectory.jsonl").split("\n").filter(Boolean);
  const events = lines.map((line) => TrajectoryEvent.parse(JSON.parse(line)));
  return { report, events, rows, server, files, sandbox, token: proxy.token };
}

/** What a shell line prints in a sandbox, as root. */
export async function printed(sandbox: Sandbox, line: string): Promise<string> {
  const { stdout } = await sandbox.exec({
    argv: ["/bin/sh", "-c", line],
    uid: 0,
    cwd: "/",
    env: { PATH },
    timeoutMs: 60_000,
  });
  return new TextDecoder().decode(stdout).trim();
}
