import { setTimeout as delay } from "node:timers/promises";
import type { StartClaim } from "../../core/ports/job-store.ts";
import { checkName } from "./safe-path.ts";
import { Lease, type LeaseOptions } from "./lease.ts";

const POLL_MS = 25;

export interface ClaimOptions extends LeaseOptions {
  /** How long a holder that lives, or may live, is waited for. */
  readonly waitMs: number;
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
    const taken = await Lease.tryTake(dir, options, { folder: `.start-${name}`, lockFile: null });
    if (taken instanceof Lease) return taken;
    if (performance.now() > untilMs)
      throw taken.refusal(`the same command is already being started in ${dir}`);
    await delay(POLL_MS);
  }
}
