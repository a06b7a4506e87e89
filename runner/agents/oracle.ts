import { agentWallClockText } from "../../core/outcome/error-text.ts";
import type { AgentEnd } from "../../core/outcome/trial-evidence.ts";
import { keptOutput, lastText, MAX_OUTPUT_BYTES } from "../output-text.ts";
import { type Agent, type AgentReport, type AgentRun, NO_USAGE } from "./agent.ts";

/** Characters of the solution's output that its trajectory event holds (spec 9.1). */
const EVENT_OUTPUT_CHARS = 2000;

/**
 * The positive control: runs the task's own solution as root (spec 9.1). Its exit code only warns;
 * verification decides.
 */
export const oracle: Agent = {
  name: "oracle",
  runsAs: "root",
  needsSolution: true,
  models: null,
  mounts: [],
  run: runSolution,
};

async function runSolution(run: AgentRun): Promise<AgentReport> {
  const { task } = run.spec;
  const folder = task.oracleDir ?? "solution";
  const timeoutSec = run.spec.agentTimeoutSec;
  const completed = await run.sandbox.exec({
    argv: ["/bin/bash", "-c", `exec bash /${folder}/solve.sh 2>&1`],
    uid: 0,
    cwd: run.workdir,
    env: {
      ...run.env,
      HOME: "/root",
      DEBIAN_FRONTEND: "noninteractive",
      ...task.config.oracle.env,
    },
    timeoutMs: timeoutSec * 1000,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    signal: run.signal,
  });
  const output = keptOutput(completed);
  await run.folder.write("agent/oracle.txt", output);
  await run.trajectory.record({
    type: "oracle",
    command: `${folder}/solve.sh`,
    return_code: completed.exitCode,
    stdout: lastText(output, EVENT_OUTPUT_CHARS),
  });
  if (completed.exitCode !== 0 && !completed.timedOut)
    run.onLine(`solve.sh exited with ${String(completed.exitCode)}`);
  return {
    agentName: "oracle",
    end: endOfScript(completed.timedOut, timeoutSec),
    toolCalls: 0,
    skillInvocations: 0,
    prompts: [],
    usage: NO_USAGE,
  };
}

/** A script ends by itself, whatever its exit code, or at its time limit (spec 2.5). */
export function endOfScript(timedOut: boolean, timeoutSec: number): AgentEnd {
  if (!timedOut) return { kind: "completed" };
  const error = { category: "timeout", message: agentWallClockText(timeoutSec) } as const;
  return { kind: "limit", limit: "wall-clock", error };
}
