import { SandboxError } from "../../core/ports/sandbox.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, EngineError, hasStatus } from "./engine-error.ts";

const REMOVAL_MS = 60_000;

/**
 * Removes a container, whatever runs inside, with its anonymous volumes, and resolves when the daemon
 * knows it no more. PID 1 gets KILL at once: it keeps nothing that a gentle end would save.
 */
export async function removeContainer(client: EngineClient, idOrName: string): Promise<void> {
  const until = performance.now() + REMOVAL_MS;
  for (let waitMs = 10; ; waitMs = Math.min(waitMs * 2, 500)) {
    const refusal = await tryRemove(client, idOrName);
    if (await isGone(client, idOrName)) return;
    if (performance.now() > until)
      throw new SandboxError(
        "backend-unavailable",
        `container ${idOrName.slice(0, 40)} is not gone after ${String(REMOVAL_MS / 1000)} s: ${refusal}`,
      );
    await new Promise((resolve) => {
      setTimeout(resolve, waitMs);
    });
  }
}

/** Resolves to what the daemon objected to, "" for nothing. Someone else may be removing it too (409). */
async function tryRemove(client: EngineClient, idOrName: string): Promise<string> {
  try {
    await client.run("DELETE", `/containers/${idOrName}`, { query: { force: true, v: true } });
    return "";
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.message;
  }
}

async function isGone(client: EngineClient, idOrName: string): Promise<boolean> {
  try {
    await client.run("GET", `/containers/${idOrName}/json`);
    return false;
  } catch (error) {
    if (hasStatus(error, 404)) return true;
    throw asSandboxError(error, "backend-unavailable", "cannot look for a container");
  }
}
