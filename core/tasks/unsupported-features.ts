import type { Refusal, TaskConfig, TaskDocument } from "../model/task.ts";
import { isRecord } from "./plain-data.ts";
import { readScenes } from "./scene-turns.ts";
import { readSimulatedUser } from "./simulated-user.ts";

/**
 * What a task asks for that no backend of this edition can do (the refuse-to-run list of spec 6.4):
 * each becomes a line of the plan and the task does not start. What only one backend lacks is
 * decided in the plan, by its capabilities.
 */
export function unsupportedFeatures(
  config: TaskConfig,
  document: TaskDocument,
  prompt: string,
): Refusal[] {
  return [
    ...refuseSteps(config),
    ...refuseNetwork(config),
    ...refuseVerifier(config),
    ...refuseSandbox(config),
    ...refuseSetupCommands(config),
    ...refuseDocument(document),
  ]
    .map(([path, reason]): Refusal => ({ path, reason }))
    .concat(Array.from(refuseConversation(document, prompt)));
}

type Line = readonly [path: string, reason: string];

function* refuseSteps({ steps, artifacts }: TaskConfig): Generator<Line> {
  if (steps.length > 0) yield ["steps", "tasks of several steps are not run by this edition"];
  for (const [index, step] of steps.entries()) {
    const { artifacts: own, healthcheck } = step;
    if (Array.isArray(own) && own.length > 0) {
      yield [`steps[${index}].artifacts`, "artifacts of a step are not collected"];
    }
    if (healthcheck !== undefined) yield [`steps[${index}].healthcheck`, "is not run for a step"];
  }
  if (artifacts.length > 0) {
    yield ["artifacts", "declared artifacts are not collected; --save-outputs keeps the workspace"];
  }
}

function* refuseNetwork({ sandbox, agent, verifier }: TaskConfig): Generator<Line> {
  const modes = [
    ["sandbox", sandbox.networkMode],
    ["agent", agent.networkMode],
    ["verifier", verifier.networkMode],
  ] as const;
  for (const [section, mode] of modes) {
    if (mode !== "allowlist" && mode !== "denylist") continue;
    const list = mode === "allowlist" ? "an allowlist" : "a denylist";
    yield [`${section}.network_mode`, `no sandbox here holds the network to ${list} of hosts`];
  }
}

function* refuseVerifier({ verifier }: TaskConfig): Generator<Line> {
  if (verifier.type === "llm-judge") {
    yield [
      "verifier.type",
      "verifiers of type llm-judge are not run by this edition, only scripts are",
    ];
  }
  if (verifier.sandboxMode === "separate") {
    yield ["verifier.sandbox_mode", "a separate sandbox for the verifier is not built"];
  }
  if (verifier.sandbox !== null) {
    yield ["verifier.sandbox", "a sandbox of the verifier's own is not built"];
  }
  if (verifier.service !== "main") {
    yield [
      "verifier.service",
      `the verifier runs in service main only, not in ${verifier.service}`,
    ];
  }
}

function* refuseSandbox({ sandbox }: TaskConfig): Generator<Line> {
  if (sandbox.os !== "linux") yield ["sandbox.os", `tasks for ${sandbox.os} are not run`];
  if (sandbox.tpu !== null) yield ["sandbox.tpu", "no sandbox here has TPUs"];
  if (sandbox.gpus > 0 || sandbox.gpuTypes.length > 0) {
    yield ["sandbox.gpus", "no sandbox here has GPUs"];
  }
  if (sandbox.bugswarmImageTag !== null) {
    yield ["sandbox.bugswarm_image_tag", "BugSwarm images are not prepared by this edition"];
  }
  const { workdir } = sandbox;
  if (workdir !== null && (!workdir.startsWith("/") || /^\/+$/u.test(workdir))) {
    yield ["sandbox.workdir", `${JSON.stringify(workdir)} is not an absolute path below /`];
  }
}

function* refuseSetupCommands({ sandbox }: TaskConfig): Generator<Line> {
  for (const [index, command] of sandbox.setupCommands.entries()) {
    const path = `sandbox.setup_commands[${index}]`;
    if (command.service !== "main") {
      yield [`${path}.service`, `commands run in service main only, not in ${command.service}`];
    }
    if (command.hostLock !== null) yield [`${path}.host_lock`, "locks on the host are not taken"];
    if (command.captureDir !== null) {
      yield [`${path}.capture_dir`, "folders are not captured into variables"];
    }
  }
}

/** Nobody speaks with the oracle or nop, so for them these parts never come into play. */
function* refuseConversation(document: TaskDocument, prompt: string): Generator<Refusal> {
  const user = readSimulatedUser(document);
  const scenes = readScenes(document, prompt);
  if (user.kind === "refused")
    yield { path: "user", reason: user.reasons.join("; "), agentsOnly: true };
  if (scenes.kind === "refused") yield { path: "scenes", reason: scenes.reason, agentsOnly: true };
  if (user.kind !== "scripted" || scenes.kind !== "turns") return;
  const [turns, rounds] = [scenes.turns.length, user.user.maxRounds];
  if (turns <= rounds) return;
  const reason = `its ${String(rounds)} rounds end before the ${String(turns)} turns of the scenes`;
  yield { path: "user", reason, agentsOnly: true };
}

function* refuseDocument({ benchflow }: TaskDocument): Generator<Line> {
  const policies = {
    agent_policy: "is not enforced",
    runtime_policy: "is not enforced",
    teams: "is not run",
  };
  for (const [key, reason] of Object.entries(policies)) {
    if (benchflow[key] !== undefined) yield [`benchflow.${key}`, `${reason} by this edition`];
  }
  const { verifier } = benchflow;
  const implementation = isRecord(verifier) ? verifier["implementation"] : undefined;
  const type = isRecord(implementation) ? implementation["type"] : undefined;
  if (typeof type === "string" && !["test-script", "script", "deterministic"].includes(type)) {
    yield [
      "benchflow.verifier.implementation.type",
      `${type} is not run by this edition, only scripts are`,
    ];
  }
}
