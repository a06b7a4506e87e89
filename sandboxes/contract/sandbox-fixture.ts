import type { Sandbox } from "../../core/ports/sandbox.ts";
import type { SandboxFixture, SandboxOverrides } from "./sandbox-promise.ts";

type FixtureParts = Omit<SandboxFixture, "makeSandbox" | "sharedSandbox">;

const ROOMY = { cpus: 2, memoryMb: 1024, storageMb: 1024, pids: 256 } as const;

/** A fixture for the contract's checks, and the end of what they made. */
export interface OpenFixture {
  readonly fixture: SandboxFixture;
  /** Ends the sandboxes that the last check made for itself. */
  endCheck(): Promise<void>;
  /** Ends all, the shared sandbox too. */
  close(): Promise<void>;
}

export function openFixture(parts: FixtureParts): OpenFixture {
  const own = new Set<Sandbox>();
  let shared: Promise<Sandbox> | undefined;

  const create = async (overrides: SandboxOverrides = {}): Promise<Sandbox> =>
    await parts.backend.create({
      image: parts.image,
      owner: parts.owner,
      limits: ROOMY,
      network: "closed",
      env: {},
      signal: new AbortController().signal,
      ...overrides,
    });

  const endCheck = async (): Promise<void> => {
    const ending = [...own];
    own.clear();
    await Promise.all(ending.map((sandbox) => sandbox.destroy()));
  };

  return {
    fixture: {
      ...parts,
      makeSandbox: async (overrides) => {
        const sandbox = await create(overrides);
        own.add(sandbox);
        return sandbox;
      },
      sharedSandbox: () => (shared ??= create()),
    },
    endCheck,
    close: async () => {
      await endCheck();
      const sandbox = await shared;
      shared = undefined;
      await sandbox?.destroy();
    },
  };
}
