import { setImmediate } from "node:timers/promises";
import type { JobRef, StartClaim } from "../../core/ports/job-store.ts";

/** What a memory store holds; several stores may share it, as processes share a disk. */
export interface MemoryDisk {
  readonly jobs: Map<string, MemoryJob>;
  /** Files of jobs folders, by path. */
  readonly files: Map<string, Uint8Array>;
  /** Names of starts that are claimed. */
  readonly claims: Set<string>;
}

export interface MemoryJob extends JobRef {
  readonly files: Map<string, Uint8Array>;
  readonly attempts: Map<string, Map<string, Uint8Array>>;
  owner: string | null;
}

export const emptyDisk = (): MemoryDisk => ({
  jobs: new Map(),
  files: new Map(),
  claims: new Set(),
});

/** See `JobStore.claimStart`: whoever waits looks again and again. */
export async function claimIn(
  { claims }: MemoryDisk,
  name: string,
  signal: AbortSignal,
): Promise<StartClaim> {
  while (claims.has(name)) {
    signal.throwIfAborted();
    await setImmediate();
  }
  signal.throwIfAborted();
  claims.add(name);
  let isHeld = true;
  return {
    release: async () => {
      if (isHeld) claims.delete(name);
      isHeld = false;
    },
  };
}
