import type { OnEvent } from "../core/events/run-event.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Sha256 } from "../core/ports/hash.ts";
import type { JobStore } from "../core/ports/job-store.ts";
import type { SandboxBackend } from "../core/ports/sandbox.ts";

/** What a run touches of the world. `openRunDeps` makes the real ones. */
export interface RunDeps {
  readonly backend: SandboxBackend;
  readonly store: JobStore;
  readonly clock: Clock;
  readonly sha256: Sha256;
  /** Eight hex digits, never the same twice (spec 1.1). */
  readonly newHex8: () => string;
  /** Identity of this process, for leases and the owners of sandboxes. */
  readonly ownerProcess: string;
  /** Host variables that a task may be given, and only through `--pass-env`. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly onEvent: OnEvent;
  /** Ends the run cleanly: sandboxes gone, what ended is kept. */
  readonly signal: AbortSignal;
}
