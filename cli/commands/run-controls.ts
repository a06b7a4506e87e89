import { Evaluation, EvaluationConfig } from "../../api/evaluation.ts";
import type { RunEvent } from "../../core/events/run-event.ts";
import type { TrialRecord } from "../../core/model/record.ts";
import { SandboxKind } from "../../core/model/settings.ts";
import { BenchError } from "../../core/errors.ts";
import { lackedTool, lostProcesses } from "../../core/outcome/doubts.ts";
import type { CliContext } from "../context.ts";
import type { ControlFinding } from "../render/task-checks.ts";
import { sameCommandOnLocal } from "../same-command.ts";

export interface ControlRun {
  /** A task's folder or a folder of tasks. */
  readonly dir: string;
  /** Tasks to run; the others are left out. */
  readonly names: readonly string[];
  readonly environment: string;
  /** A new folder for the two jobs. */
  readonly jobsDir: string;
}

/**
 * Runs the oracle and nop once on each task. A sound task gives the oracle 1 and an agent that does
 * nothing no pass; everything else is an issue of the task, with what the verifier said.
 */
export async function runControls(
  context: CliContext,
  run: ControlRun,
): Promise<readonly ControlFinding[]> {
  const findings: ControlFinding[] = [];
  for (const agent of ["oracle", "nop"] as const) {
    const records = await runControl(context, run, agent);
    for (const taskName of run.names) {
      const finding = judge(agent, taskName, records.get(taskName) ?? null);
      if (finding !== null) findings.push(finding);
    }
  }
  return findings;
}

type Ended = TrialRecord | { readonly blocked: string };

async function runControl(
  context: CliContext,
  { dir, names, environment, jobsDir }: ControlRun,
  agent: "oracle" | "nop",
): Promise<ReadonlyMap<string, Ended>> {
  const kind = SandboxKind.safeParse(environment);
  if (!kind.success) {
    throw new BenchError("usage", `--env is ${environment}`, {
      next: "use --env local or --env docker",
    });
  }
  const ended = new Map<string, Ended>();
  const onEvent = (event: RunEvent) => {
    if (event.type === "trial-ended" && event.retryInMs === null) {
      ended.set(event.record.taskName, event.record);
    }
    if (event.type !== "run-planned") return;
    for (const { name, reason } of event.plan.skipped) ended.set(name, { blocked: reason });
    for (const { taskName, action, why } of event.plan.jobs.flatMap((job) => job.trials)) {
      if (action === "blocked") ended.set(taskName, { blocked: why });
    }
  };
  const config = new EvaluationConfig({
    agent,
    environment: kind.data,
    // fnmatch reads [ ] * ? in a name as a pattern; in a set they are themselves.
    include: names.map((name) => name.replaceAll(/[*?[]/gu, (char) => `[${char}]`)),
    concurrency: 2,
    retryAttempts: 0,
    jobName: agent,
  });
  const evaluation = new Evaluation({
    tasksDir: dir,
    jobsDir,
    config,
    onEvent,
    signal: context.signal,
    env: context.env,
    nextWithoutDocker: sameCommandOnLocal(context.args ?? []),
  });
  try {
    await evaluation.run();
  } catch (error) {
    // A plan with nothing to run is an error there; here it is what the check has to tell.
    if (!(error instanceof BenchError) || error.kind !== "config") throw error;
    for (const name of names) ended.set(name, { blocked: error.message });
  }
  return ended;
}

/** What may be the reason of an oracle's zero, besides its solution. */
function doubtOf(record: TrialRecord): string {
  if (lackedTool(record)) return " (its verifier could not find or install a tool)";
  if (!lostProcesses(record)) return "";
  return " (what it left running was ended: its tests have to start the services that they ask)";
}

function judge(
  agent: "oracle" | "nop",
  taskName: string,
  ended: Ended | null,
): ControlFinding | null {
  const issue = (text: string): ControlFinding => ({ taskName, kind: "issue", text });
  if (ended === null) return issue(`${agent} did not run`);
  if ("blocked" in ended) {
    return { taskName, kind: "warning", text: `${agent} was not run: ${ended.blocked}` };
  }
  const { outcome } = ended;
  if (outcome.kind === "unscored") {
    return issue(`${agent} got no verdict (${outcome.fault}: ${outcome.detail})`);
  }
  const reward = outcome.reward.toFixed(2);
  if (agent === "oracle") {
    return outcome.passed
      ? null
      : issue(`oracle got reward ${reward}, its solution must get 1${doubtOf(ended)}`);
  }
  if (outcome.passed) return issue(`nop got reward ${reward}: an agent that does nothing passes`);
  if (outcome.reward <= 0) return null;
  const text = `nop got reward ${reward}: an agent that does nothing gets a part of the reward`;
  return { taskName, kind: "warning", text };
}
