import { BenchError } from "../core/errors.ts";
import type { AgentEnd } from "../core/outcome/trial-evidence.ts";
import { endedProcessesNote } from "../core/outcome/doubts.ts";
import { givenNetworks } from "../core/plan/phase-networks.ts";
import { skillsOf } from "../core/plan/task-skills.ts";
import {
  type NetworkPolicy,
  type ProcessMark,
  type Sandbox,
  SandboxError,
} from "../core/ports/sandbox.ts";
import { planConversation } from "../core/tasks/conversation.ts";
import { type AgentReport, NO_USAGE } from "./agents/agent.ts";
import type { AttemptState } from "./attempt-state.ts";
import { readEarlierWork } from "./read-earlier-work.ts";
import type { SetUp } from "./start-sandbox.ts";
import { freezeWorkspace } from "./verifier/freeze-workspace.ts";
import { restoreWorkspace } from "./verifier/restore-workspace.ts";
import { closeTrialModels, openTrialModels, watchModels } from "./spend/spend-phases.ts";
import { stopAgent } from "./verifier/stop-agent.ts";

const DISK_POLL_MS = 5000;

/** A workspace with nobody at work in it any more. */
export interface FinishedWork extends SetUp {
  /** The agent was root, so anything in the sandbox may be its own. */
  readonly agentWasRoot: boolean;
  /** What ran before the agent did. */
  readonly mark: ProcessMark;
  /** What the sandbox's network is now. */
  readonly network: NetworkPolicy;
}

/** Phases agent, stop-agent and freeze; or, for a verify-only attempt, the saved work of an earlier one. */
export async function workOnTask(state: AttemptState, setUp: SetUp): Promise<FinishedWork> {
  const { spec } = state;
  state.phases.enter("agent");
  const agentWasRoot = state.deps.agent.runsAs === "root";
  const mark = await markTask(state, setUp);
  const networks = givenNetworks(spec.task.config, state.deps.backend.caps);
  if (spec.verifyOnlyFrom !== null) {
    await restoreWork(state, setUp, spec.verifyOnlyFrom);
    return { ...setUp, agentWasRoot, mark, network: networks.setup };
  }
  const network = networks.agent;
  if (network !== networks.setup) await setUp.sandbox.network(network);
  state.networks.agent = network;
  await openTrialModels(state, setUp);
  state.report = await runAgent(state, setUp);
  state.phases.enter("stop-agent");
  const started = await listStarted(setUp.sandbox, mark);
  await stopAgent(setUp.sandbox, { uid: agentWasRoot ? 0 : setUp.agentUid, mark });
  const spared = mark.keepers === undefined ? [] : await listStarted(setUp.sandbox, mark);
  const left = started.filter((each) => !spared.includes(each)).length;
  if (left > 0) state.notes.push(endedProcessesNote(left));
  await closeTrialModels(state);
  const isStopped = state.budget.signal.aborted;
  // Nobody grades what the pot cut short, so its workspace is kept to be looked at (design 8).
  if (spec.saveOutputs || isStopped) await freeze(state, setUp);
  if (isStopped) throw state.budget.signal.reason;
  return { ...setUp, agentWasRoot, mark, network };
}

/**
 * What runs before the agent does. What the image's ENTRYPOINT has started by then may go on starting
 * processes when the agent is ended: an agent's own process never descends from it.
 */
async function markTask(
  { entrypoint, deps, notes }: AttemptState,
  { sandbox, agentUid }: SetUp,
): Promise<ProcessMark> {
  const mark = await sandbox.mark();
  if (entrypoint === null) return mark;
  if (entrypoint.uid === agentUid && deps.agent.runsAs !== "root") {
    const message = "the image's ENTRYPOINT runs as the agent's own user, and would end with it";
    throw new SandboxError("unsupported", message);
  }
  const { processes } = entrypoint.before;
  const keepers = mark.processes.filter((each) => !processes.includes(each));
  notes.push(`the image's ENTRYPOINT runs in the sandbox, as uid ${String(entrypoint.uid)}`);
  return { ...mark, keepers };
}

/** Processes that were not there at `mark`: what an agent that ended has left running. */
async function listStarted(sandbox: Sandbox, mark: ProcessMark): Promise<readonly string[]> {
  const older = new Set(mark.processes);
  const { processes } = await sandbox.mark();
  return processes.filter((each) => !older.has(each));
}

async function runAgent(state: AttemptState, setUp: SetUp): Promise<AgentReport> {
  const { spec, deps, signal, models } = state;
  const disk = watchDisk(state, setUp);
  const spending = watchModels(state);
  try {
    return await deps.agent.run({
      spec,
      sandbox: setUp.sandbox,
      folder: deps.folder,
      trajectory: state.trajectory,
      workdir: setUp.workdir,
      conversation: planConversation(spec.task, deps.settings),
      skillsPath: skillsOf(spec.task, deps.settings).sandboxDir,
      env: setUp.env,
      uid: setUp.agentUid,
      home: setUp.agentHome,
      models,
      signal: AbortSignal.any([signal, disk.signal, spending.signal]),
      onLine: (line) => deps.onEvent({ type: "trial-line", rolloutName: spec.rolloutName, line }),
    });
  } catch (thrown) {
    if (spending.signal.aborted || state.budget.signal.aborted)
      return reportOf(deps.agent.name, { kind: "completed" });
    if (signal.aborted || !disk.signal.aborted) throw thrown;
    return reportOf(deps.agent.name, { kind: "limit", limit: "disk", error: null });
  } finally {
    disk.end();
    spending.end();
  }
}

/** Where the backend cannot hold the disk limit itself, its use is looked at while the agent works. */
function watchDisk(state: AttemptState, { sandbox }: SetUp) {
  const over = new AbortController();
  const { limits } = state.deps.backend.caps;
  const maxBytes = state.spec.task.config.sandbox.storageMb * 1024 * 1024;
  const look = async (): Promise<void> => {
    try {
      const { diskBytes } = await sandbox.stats();
      if (diskBytes !== null && diskBytes > maxBytes) over.abort();
    } catch (thrown) {
      // A sandbox that is gone tells the agent's own call so, with its type.
      if (!(thrown instanceof SandboxError)) throw thrown;
    }
  };
  const timer = limits.disk ? undefined : setInterval(() => void look(), DISK_POLL_MS);
  return { signal: over.signal, end: () => clearInterval(timer) };
}

async function freeze(
  state: AttemptState,
  { sandbox, workdir }: Pick<SetUp, "sandbox" | "workdir">,
): Promise<void> {
  state.phases.enter("freeze");
  const frozen = await freezeWorkspace(sandbox, workdir, state.deps.folder);
  state.workspaceSaved = frozen.saved;
  if (!frozen.saved) state.notes.push(`the workspace was not saved: ${frozen.reason}`);
}

/** The earlier attempt's work is this one's too; its spending is not spent again. */
async function restoreWork(
  state: AttemptState,
  { sandbox, workdir }: SetUp,
  rolloutName: string,
): Promise<void> {
  const { folder, agent } = state.deps;
  const earlier = await readEarlierWork(folder, rolloutName);
  await restoreWorkspace(sandbox, folder, { rolloutName, workdir, signal: state.signal }).catch(
    (thrown: unknown) => {
      state.verifyRefused = thrown instanceof BenchError && thrown.kind === "config";
      throw thrown;
    },
  );
  state.report = {
    ...reportOf(earlier.agentName ?? agent.name, earlier.end),
    toolCalls: earlier.toolCalls,
  };
  state.notes.push(`only verified: the work of ${rolloutName}`, ...earlier.notes);
  if (state.spec.saveOutputs) await freeze(state, { sandbox, workdir });
}

function reportOf(agentName: string, end: AgentEnd): AgentReport {
  return { agentName, end, toolCalls: 0, skillInvocations: 0, prompts: [], usage: NO_USAGE };
}
