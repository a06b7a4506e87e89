import type {
  PreparedImage,
  Sandbox,
  SandboxBackend,
  SandboxCaps,
  SandboxOwner,
  SandboxRequest,
} from "../../core/ports/sandbox.ts";

/**
 * One promise of the sandbox port, as data: the same list is run by the tests on every adapter and
 * by `bench doctor` on a user's machine. `check` throws when the promise is broken.
 */
export interface SandboxPromise {
  /** A sentence in the present tense. */
  readonly promise: string;
  /** What the backend must claim for this promise to bind it; a backend that does not is skipped, and said so. */
  readonly requires?: {
    /** Completes "skipped: the backend has no …". */
    readonly what: string;
    readonly holds: (caps: SandboxCaps) => boolean;
  };
  readonly check: (fixture: SandboxFixture) => Promise<void>;
}

export type SandboxOverrides = Partial<
  Pick<SandboxRequest, "limits" | "network" | "env" | "owner" | "mounts" | "signal">
>;

/**
 * What a check gets. The image must have sh, bash, GNU coreutils, util-linux's setsid and perl
 * (Debian's essential packages have all of them), and a `/tmp` that anyone can write to.
 */
export interface SandboxFixture {
  readonly backend: SandboxBackend;
  readonly image: PreparedImage;
  /** The owner that `makeSandbox` gives, for the checks that vary it. */
  readonly owner: SandboxOwner;
  /** A sandbox that the fixture destroys after the check. */
  readonly makeSandbox: (overrides?: SandboxOverrides) => Promise<Sandbox>;
  /** One sandbox for all checks that leave no trace but in folders they made. */
  readonly sharedSandbox: () => Promise<Sandbox>;
  /**
   * What this machine still holds of a sandbox: one line a process, mount, cgroup, loop device,
   * container, network or folder. Looks for itself, and does not ask the backend.
   */
  readonly leftovers: (id: string) => Promise<readonly string[]>;
}

/** Why a promise does not bind a backend, as a phrase for a report; null when it does. */
export function skipReason(promise: SandboxPromise, caps: SandboxCaps): string | null {
  if (promise.requires === undefined || promise.requires.holds(caps)) return null;
  return `the backend has no ${promise.requires.what}`;
}

/** The uid that checks use for the agent: any that is not root and not in the image's passwd. */
export const AGENT_UID = 10_001;
