import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { StartClaim } from "../../core/ports/job-store.ts";
import { checkName } from "./safe-path.ts";
import { Lease, type LeaseOptions } from "./lease.ts";

const POLL_MS = 25;

export interface ClaimOptions extends LeaseOptions {
  /** How long a holder that lives, or may live, is waited for. */
  readonly waitMs: number;
  /** Makes the jobs folder: a holder that made it for its claim and no job takes it away again. */
  readonly makeDir: () => Promise<void>;
}

/**
 * See `JobStore.claimStart`. A lease of its own in the jobs folder, `.start-<name>`: what holds for a
 * job's lease (docs/decisions, lease) holds for it, so a holder that was killed is taken over at once.
 */
export async function takeStartClaim(
  dir: string,
  name: string,
  options: ClaimOptions,
  signal: AbortSignal,
): Promise<StartClaim> {
  checkName(name);
  const untilMs = performance.now() + options.waitMs;
  for (;;) {
    signal.throwIfAborted();
    const place = { folder: `.start-${name}`, lockFile: null };
    const taken = await Lease.tryTake(dir, options, place).catch((error: unknown) => {
      if (existsSync(dir)) throw error;
      return null;
    });
    if (taken instanceof Lease) return taken;
    if (taken !== null && performance.now() > untilMs)
      throw taken.refusal(`the same command is already being started in ${dir}`);
    if (taken === null) await options.makeDir();
    else await delay(POLL_MS);
  }
}
