import type { Sandbox } from "../../core/ports/sandbox.ts";
import { type Baseline, parseBaseline } from "../verifier/baseline.ts";
import { BASELINE_SCRIPT } from "../verifier/baseline-script.ts";
import { recordsOf, scriptCommand, valuesOf } from "../verifier/script-records.ts";
import { SETUP_SCRIPT } from "./setup-script.ts";

/** The uid of every agent, unless the image has a user of the agent's name already. */
export const AGENT_UID = 10_001;

export interface SetupRequest {
  /** Name of the agent's user: `^[a-z_][a-z0-9_-]*$` (spec 11.2). */
  readonly userName: string;
  /** The workspace; made if missing. */
  readonly workdir: string;
  /** The PYTHONPATH that the tests will have: its folders in the workspace are watched. */
  readonly pythonPath?: string;
  readonly signal: AbortSignal;
}

/** A sandbox that an agent may enter. */
export interface ReadySandbox {
  readonly agentUid: number;
  readonly agentHome: string;
  /** The workspace with every link in its path resolved. */
  readonly workdir: string;
  readonly baseline: Baseline;
}

/**
 * Makes a started sandbox ready for its agent, in one exec: the agent's user with a home and no
 * password, no set-id bits and no writable system folders, the workspace and the two log folders
 * given to it, the folders of tests and solution locked; then the baseline. Throws `SandboxError`:
 * `unsupported` when this image or workspace cannot hold an agent apart, `start-failed` otherwise.
 */
export async function setupSandbox(sandbox: Sandbox, request: SetupRequest): Promise<ReadySandbox> {
  const parameters = {
    AGENT_NAME: request.userName,
    AGENT_UID: String(AGENT_UID),
    WORKDIR: request.workdir,
    PYTHON_PATH: request.pythonPath ?? "",
  };
  const script = SETUP_SCRIPT + BASELINE_SCRIPT;
  const completed = await sandbox.exec(scriptCommand(script, parameters, request.signal));
  const records = recordsOf(completed, "sandbox set-up");
  return {
    agentUid: Number(valuesOf(records, "uid")[0] ?? AGENT_UID),
    agentHome: valuesOf(records, "home")[0] ?? `/home/${request.userName}`,
    workdir: valuesOf(records, "workdir")[0] ?? request.workdir,
    baseline: parseBaseline(records),
  };
}
