import { join } from "node:path";
import { shownVariables } from "../core/plan/agent-env.ts";
import { givenNetworks } from "../core/plan/phase-networks.ts";
import { skillsOf } from "../core/plan/task-skills.ts";
import { SandboxError, type SandboxLimits } from "../core/ports/sandbox.ts";
import { describeScenes } from "../core/results/describe-scenes.ts";
import { renderSandboxFile } from "../core/results/render-side-files.ts";
import { renderTrialConfig } from "../core/results/render-trial-config.ts";
import { inlineEntry } from "../core/tar/inline-entry.ts";
import { type TarSource, writeTar } from "../core/tar/write-tar.ts";
import { type AttemptState, ownerOf, sceneFactsOf } from "./attempt-state.ts";
import { payForSandbox } from "./spend/spend-phases.ts";
import { readyTask } from "./ready-task.ts";
import { type ReadySandbox, setupSandbox } from "./setup/setup-sandbox.ts";
import { startEntrypoint } from "./setup/start-entrypoint.ts";
import { testEntries } from "./verifier/pack-tests.ts";
import { pythonPathOf } from "./verifier/python-path.ts";

const SETUP_TIMEOUT_SEC = 120;
/** Docker's own default is unlimited; a fork bomb must meet a limit (attack 19). */
const MAX_PROCESSES = 2048;
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Dev homes are no workspace of their own: the contract moves them (spec 6.4, `sandbox.workdir`). */
const ROOT_HOME = "/root";

/** A sandbox set up for its agent, with what every later phase needs to know of it. */
export interface SetUp extends ReadySandbox {
  readonly sandbox: NonNullable<AttemptState["sandbox"]>;
  /** Of the image and the task; nothing of this machine. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Phases prepare and start: the image, then a sandbox whose id is on disk before its first use, and in
 * it the image's ENTRYPOINT.
 */
export async function startSandbox(state: AttemptState): Promise<void> {
  const { spec, deps, signal } = state;
  const { task } = spec;
  const owner = ownerOf(spec, deps);
  const limits = limitsOf(state);
  state.phases.enter("prepare");
  state.image = await deps.images.prepare({
    source: task.image,
    contextDir: join(task.dir, task.environmentDir),
    leaveOut: skillsOf(task, deps.settings).leaveOut,
    baseImageMap: deps.settings.baseImageMap,
    timeoutMs: task.config.sandbox.buildTimeoutSec * 1000,
    limits,
    owner,
    signal: deps.signal,
    onLine: (line) =>
      deps.onEvent({ type: "trial-line", rolloutName: spec.rolloutName, line: `build: ${line}` }),
  });
  state.phases.enter("start");
  signal.throwIfAborted();
  await payForSandbox(state);
  const { setup: network } = givenNetworks(task.config, deps.backend.caps);
  const env = { ...state.image.env, ...task.config.sandbox.env };
  state.sandbox = await deps.backend.create({
    image: state.image,
    owner,
    limits,
    network,
    env,
    mounts: deps.agent.mounts,
    signal,
  });
  await deps.folder.write(
    "sandbox.json",
    renderSandboxFile({
      id: state.sandbox.id,
      provider: deps.backend.name,
      createdAt: deps.clock.now().toISOString(),
    }),
  );
  state.entrypoint = await startEntrypoint(state.sandbox, {
    image: state.image,
    env: { PATH: DEFAULT_PATH, ...env },
    folder: deps.folder,
    clock: deps.clock,
    signal,
  });
}

/** Phase setup: instruction, solution for the oracle alone, the task's own readiness, agent user. */
export async function setUpSandbox(state: AttemptState): Promise<SetUp> {
  const { spec, deps, signal, image, sandbox } = state;
  if (image === null || sandbox === null) throw new SandboxError("start-failed", "no sandbox");
  const { task } = spec;
  state.phases.enter("setup");
  const env = { PATH: DEFAULT_PATH, ...image.env, ...task.config.sandbox.env };
  const prompt = task.layout === "native" ? `${task.prompt}\n` : task.prompt;
  const files = [inlineEntry("instruction.md", prompt)];
  if (deps.agent.needsSolution && task.oracleDir !== null) {
    const { dir: taskDir, oracleDir } = task;
    files.push(
      ...(await testEntries({ dir: join(taskDir, oracleDir), taskDir, below: oracleDir })),
    );
  }
  files.push(...(await skillEntries(state)));
  // In one archive: each costs a docker daemon as much as a command.
  await sandbox.put(writeTar(files), "/");
  const workdir = workdirOf(task.config.sandbox.workdir, image.workdir);
  // Before the set-up, which gives the workspace to the agent and then takes the baseline: what the
  // task's own commands made is the agent's to work on, and no sign of tampering (spec 11.1).
  await readyTask({ task, sandbox, workdir, env, clock: deps.clock, signal });
  const ready = await setupSandbox(sandbox, {
    userName: deps.settings.sandboxUser,
    workdir,
    pythonPath: pythonPathOf(
      { ...task.config.sandbox.env, ...task.config.verifier.env },
      image.env,
    ),
    signal,
  });
  await deps.folder.write("config.json", configOf(state));
  return { ...ready, sandbox, env };
}

/** Root's, so that an agent reads and cannot change them; beside the task's image, not in it. */
async function skillEntries({ spec, deps }: AttemptState): Promise<readonly TarSource[]> {
  const { hostDir: dir, boundDir: taskDir, sandboxDir } = skillsOf(spec.task, deps.settings);
  if (dir === null || sandboxDir === null) return [];
  return await testEntries({ dir, taskDir, below: sandboxDir.slice(1) });
}

function configOf(state: AttemptState): string {
  const { spec, deps, startedAt } = state;
  const { verifierDir, oracleDir } = spec.task;
  return renderTrialConfig(spec, {
    reasoningEffort: deps.settings.reasoningEffort,
    sandboxUser: deps.agent.runsAs === "root" ? null : deps.settings.sandboxUser,
    lockedPaths: [`/${oracleDir ?? "solution"}`, `/${verifierDir}`],
    setupTimeoutSec: SETUP_TIMEOUT_SEC,
    concurrency: deps.settings.concurrency,
    skills: skillsOf(spec.task, deps.settings).fields,
    agentEnv: shownVariables(deps.settings.agentEnv),
    scenes: describeScenes(sceneFactsOf(state)),
    startedAt: startedAt.toISOString(),
    utcOffsetMinutes: -startedAt.getTimezoneOffset(),
  });
}

/** Unset: where the image starts; `/` is no workspace, root's home is (spec 6.4). */
function workdirOf(asked: string | null, image: string): string {
  if (asked !== null) return asked;
  return image === "" || image === "/" ? ROOT_HOME : image;
}

function limitsOf({ spec }: AttemptState): SandboxLimits {
  const { cpus, memoryMb, storageMb } = spec.task.config.sandbox;
  return { cpus, memoryMb, storageMb, pids: MAX_PROCESSES };
}
