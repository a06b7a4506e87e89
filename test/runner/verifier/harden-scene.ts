import type { Sandbox } from "../../../core/ports/sandbox.ts";
import { type ReadySandbox, setupSandbox } from "../../../runner/setup/setup-sandbox.ts";
import {
  type HardenedSandbox,
  type HardenRequest,
  hardenSandbox,
} from "../../../runner/verifier/harden-sandbox.ts";
import { type OpenWorld, sh } from "./real-sandboxes.ts";

const signal = new AbortController().signal;

/** Hardens as a verifier of root's does whose tests lie in `/tests`. */
export async function harden(
  sandbox: Sandbox,
  ready: ReadySandbox,
  over: Partial<HardenRequest> = {},
): Promise<HardenedSandbox> {
  return await hardenSandbox(sandbox, {
    ...ready,
    agentWasRoot: false,
    verifierUser: null,
    testsDir: "/tests",
    imagePath: "",
    pythonPath: "",
    caches: {},
    instruction: "Write the answer to answer.txt.",
    cleanupConftests: true,
    signal,
    ...over,
  });
}

/** What was done to a workspace, as shell commands that run in it. */
export interface Work {
  readonly image: string;
  readonly agent: string;
  readonly pythonPath?: string;
}

/** A sandbox whose image did one thing in `/app`, and whose agent did another. */
export async function workedOn(
  world: OpenWorld,
  { image, agent, pythonPath = "" }: Work,
): Promise<{ sandbox: Sandbox; ready: ReadySandbox }> {
  const sandbox = await world.makeSandbox();
  await sh(sandbox, `mkdir -p /app; cd /app; ${image}`);
  const ready = await setupSandbox(sandbox, {
    userName: "agent",
    workdir: "/app",
    pythonPath,
    signal,
  });
  await sh(sandbox, agent, { uid: ready.agentUid, cwd: "/app" });
  return { sandbox, ready };
}
