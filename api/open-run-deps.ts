import { createHash, randomBytes } from "node:crypto";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { OnEvent } from "../core/events/run-event.ts";
import type { RunSettings } from "../core/model/settings.ts";
import { identifyProcess } from "../host/process-identity.ts";
import { systemClock } from "../host/system-clock.ts";
import { FileJobStore } from "../stores/files/file-job-store.ts";
import { openBackend } from "./backends.ts";
import type { RunDeps } from "./run-deps.ts";

export interface RunSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onEvent: OnEvent;
  readonly signal: AbortSignal;
}

/** The real world for a run on this computer. Close `backend` when the run has ended. */
export async function openRunDeps(
  settings: Pick<RunSettings, "environment" | "jobsDir" | "localInclude">,
  surroundings: RunSurroundings,
): Promise<RunDeps> {
  const { env, onEvent, signal } = surroundings;
  const backend = await openBackend(settings.environment, {
    stateDir: resolve(stateDir(env)),
    localInclude: settings.localInclude,
    env,
  });
  const ownerProcess = identifyProcess();
  return {
    backend,
    store: new FileJobStore(settings.jobsDir, { owner: ownerProcess }),
    clock: systemClock,
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
    newHex8: () => randomBytes(4).toString("hex"),
    ownerProcess,
    hostEnv: env,
    onEvent,
    signal,
  };
}

/** `$BENCHFLOW_STATE_DIR`, else `benchflow-cloud` in the user's cache folder. */
export function stateDir(env: Readonly<Record<string, string | undefined>>): string {
  const own = env["BENCHFLOW_STATE_DIR"];
  if (own !== undefined && own !== "") return own;
  const cache = env["XDG_CACHE_HOME"];
  const home = env["HOME"] ?? homedir();
  return join(
    cache !== undefined && cache !== "" ? cache : join(home, ".cache"),
    "benchflow-cloud",
  );
}
