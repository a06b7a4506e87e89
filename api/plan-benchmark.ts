import type { RunPlan } from "../core/model/plan.ts";
import type { RunSettings } from "../core/model/settings.ts";
import type { Task } from "../core/model/task.ts";
import { automaticJobName } from "../core/plan/job-name.ts";
import { type PlanRequest, planRun } from "../core/plan/plan-run.ts";
import { readEarlierJobs } from "../core/plan/read-earlier-jobs.ts";
import { refuseOtherLayout } from "../core/plan/refuse-other-layout.ts";
import { CONTROL_FACTS, digestSettings, scoreSettings } from "../core/plan/settings-digest.ts";
import type { SandboxCaps } from "../core/ports/sandbox.ts";
import { expandTaskEnv } from "../core/tasks/expand-task-env.ts";
import { selectTasks } from "../core/tasks/select-tasks.ts";
import { readTasks } from "../stores/task-folders/read-tasks.ts";
import type { Agent } from "../runner/agents/agent.ts";
import { readAgentFacts, withoutSecrets } from "./agent-facts.ts";
import { digestOwnFile } from "./digest-own-file.ts";
import type { PlanDeps } from "./run-deps.ts";
import type { RunModels } from "./run-models.ts";

/** Everything that a plan is made of, except what the sandboxes can hold. */
export interface PlanInput {
  readonly request: Omit<PlanRequest, "caps">;
  /** What the reading of the tasks had to say. */
  readonly warnings: readonly string[];
}

/** Who works in a run. */
export interface RunParticipants {
  readonly models: RunModels | null;
  readonly agent: Pick<Agent, "name" | "versions" | "ownFile" | "takesMcpServers">;
}

/**
 * Reads the tasks and the earlier jobs that a run of these settings depends on; creates nothing and
 * asks no sandbox. Throws `BenchError` (`usage`, `config`) for what cannot be read or selected.
 */
export async function readPlanInput(
  settings: RunSettings,
  deps: PlanDeps,
  { models, agent }: RunParticipants = { models: null, agent: { name: settings.agent } },
): Promise<PlanInput> {
  const selected = selectTasks(await readTasks(settings.tasksDir), settings);
  const { tasks, warnings } = fillTemplates(selected.tasks, settings, deps);
  const modelRoute = models?.route ?? null;
  const script = models?.script ?? null;
  if (script !== null) {
    const { refuseUnscripted, scriptWarning } = await import("./model-script-file.ts");
    refuseUnscripted(script, tasks);
    warnings.push(scriptWarning(script));
  }
  const modelScript = script === null ? null : digestOwnFile(script.file, deps.sha256);
  const agentVersions = agent.versions ?? {};
  const agentFile = agent.ownFile === undefined ? null : digestOwnFile(agent.ownFile, deps.sha256);
  const score = scoreSettings(settings, {
    ...CONTROL_FACTS,
    ...(await readAgentFacts(settings, deps.sha256)),
    agentVersions,
    agentFile,
    modelRoute,
    modelScript,
  });
  const settingsDigest = digestSettings(score, deps.sha256);
  await refuseOtherLayout(deps.store, { settings, settingsDigest });
  const request = {
    settings: withoutSecrets(settings),
    score,
    settingsDigest,
    tasks: refuseMcpServers(tasks, { models, agent }),
    skipped: selected.skipped,
    earlier: await readEarlierJobs(deps.store, { settings, settingsDigest }),
    newJobName: automaticJobName(deps.clock.now()),
  };
  return { request, warnings };
}

/**
 * Decides what a run will do. `caps` null: the sandboxes were not asked, so only what holds on every
 * one is refused. Throws `BenchError` (`usage`, `config`) for what must stop a run before it starts.
 */
export function planBenchmark(input: PlanInput, caps: SandboxCaps | null): RunPlan {
  const plan = planRun({ ...input.request, caps });
  return { ...plan, warnings: [...plan.warnings, ...input.warnings] };
}

/** Tasks with MCP servers, where the agent offers its model none, and says nothing. */
function refuseMcpServers(
  tasks: readonly Task[],
  { models, agent: { name, takesMcpServers = true } }: RunParticipants,
): Task[] {
  const isTranslated =
    models?.endpoints.some(({ protocol, agentProtocol }) => protocol !== agentProtocol) ?? false;
  if (takesMcpServers === true || (takesMcpServers === "untranslated" && !isTranslated))
    return [...tasks];
  const where = takesMcpServers === false ? "" : " of another dialect";
  const reason = `agent ${name} offers its model${where} none, and would work without them`;
  const refusal = { path: "sandbox.mcp_servers", reason, agentsOnly: true };
  return tasks.map((task) =>
    task.config.sandbox.mcpServers.length === 0
      ? task
      : { ...task, refusals: [...task.refusals, refusal] },
  );
}

/** Host variables that `--pass-env` names go into the tasks; a task that asks for others is refused. */
function fillTemplates(
  tasks: readonly Task[],
  settings: RunSettings,
  { hostEnv }: PlanDeps,
): { tasks: Task[]; warnings: string[] } {
  const expanded = tasks.map((task) => expandTaskEnv(task, hostEnv, settings.passEnv));
  return {
    tasks: expanded.map(({ task, refusals }) => ({
      ...task,
      refusals: [...task.refusals, ...refusals],
    })),
    warnings: expanded.flatMap(({ task, warnings }) =>
      warnings.map((warning) => `${task.name}: ${warning}`),
    ),
  };
}
