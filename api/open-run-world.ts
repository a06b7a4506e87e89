import { createHash, randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { OnEvent } from "../core/events/run-event.ts";
import type { RunSettings } from "../core/model/settings.ts";
import { identifyProcess } from "../host/process-identity.ts";
import { systemClock } from "../host/system-clock.ts";
import { FileJobStore } from "../stores/files/file-job-store.ts";
import { builtBackend, openBackend } from "./backends.ts";
import type { RunWorld } from "./run-deps.ts";
import { openAgentTrees } from "./open-agent-trees.ts";
import { stateDir } from "./state-dir.ts";

/** In the jobs folder, so that what was spent stays beside what it was spent on. */
const LEDGER_FOLDER = ".ledger";

export interface RunSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Provider keys that count where the environment has none. */
  readonly dotenvKeys?: Readonly<Record<string, string>>;
  /** What to do where no Docker daemon answers; undefined: what the backend says. */
  readonly nextWithoutDocker?: string | undefined;
  readonly onEvent: OnEvent;
  readonly signal: AbortSignal;
}

/**
 * The real world for a run on this computer; nothing in it is opened or made yet. Throws `BenchError`
 * (`usage`) for a sandbox that this edition does not have.
 */
export function openRunWorld(
  settings: Pick<RunSettings, "environment" | "jobsDir" | "localInclude">,
  { env, dotenvKeys = {}, nextWithoutDocker, onEvent, signal }: RunSurroundings,
): RunWorld {
  const ownerProcess = identifyProcess();
  return {
    ...sandboxesOf(settings, { env, nextWithoutDocker }),
    store: new FileJobStore(settings.jobsDir, { owner: ownerProcess }),
    clock: systemClock,
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
    newHex8: () => randomBytes(4).toString("hex"),
    ownerProcess,
    hostEnv: env,
    modelVariables: { ...env, ...missingKeys(env, dotenvKeys) },
    agentTrees: openAgentTrees(env),
    readLedger: async (pot) => {
      const { readLedgerFolder } = await import("./open-ledger-folder.ts");
      return await readLedgerFolder(resolve(settings.jobsDir, LEDGER_FOLDER), pot);
    },
    openLedger: async (pot) => {
      const { openLedgerFolder } = await import("./open-ledger-folder.ts");
      const dir = resolve(settings.jobsDir, LEDGER_FOLDER);
      return await openLedgerFolder(dir, pot, onEvent);
    },
    onEvent,
    signal,
  };
}

/** Where the trials run: sandboxes of this computer, or sweeps in the account. Code is loaded on first use. */
function sandboxesOf(
  { environment, localInclude }: Pick<RunSettings, "environment" | "localInclude">,
  { env, nextWithoutDocker }: Pick<RunSurroundings, "env" | "nextWithoutDocker">,
): Pick<RunWorld, "openBackend" | "carryOut"> {
  if (environment === "fargate") {
    return {
      openBackend: async () => {
        const { openCloudBackend } = await import("./cloud/cloud-backend.ts");
        return await openCloudBackend(env);
      },
      carryOut: async (run) => {
        const { runCloudJob } = await import("./cloud/run-cloud-job.ts");
        return await runCloudJob(run, env);
      },
    };
  }
  const kind = builtBackend(environment);
  return {
    openBackend: async () =>
      await openBackend(kind, {
        stateDir: stateDir(env),
        localInclude,
        env,
        ...(nextWithoutDocker === undefined ? {} : { nextWithoutDaemon: nextWithoutDocker }),
      }),
  };
}

/** A blank value counts as unset (spec 5.4). */
function missingKeys(
  env: Readonly<Record<string, string | undefined>>,
  keys: Readonly<Record<string, string>>,
): Record<string, string> {
  const missing = Object.entries(keys).filter(([name]) => (env[name] ?? "").trim() === "");
  return Object.fromEntries(missing);
}
