import { findOrphans } from "../core/plan/find-orphans.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { SandboxBackend, SandboxRecord } from "../core/ports/sandbox.ts";

/** Removes what dead runs left on a backend, and nothing of anyone who lives; resolves to what went. */
export async function removeOrphans(
  backend: SandboxBackend,
  clock: Clock,
): Promise<readonly SandboxRecord[]> {
  const orphans = findOrphans(await backend.list(), clock.now().getTime());
  for (const { id } of orphans) await backend.remove(id);
  return orphans;
}
