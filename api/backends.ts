import { BenchError, messageOf } from "../core/errors.ts";
import type { SandboxKind } from "../core/model/settings.ts";
import type { SandboxBackend } from "../core/ports/sandbox.ts";
import { codeOf } from "../host/error-code.ts";

/** The backends of this edition, in the order in which they are listed. */
export const BUILT_BACKENDS = ["local", "docker"] as const;
export type BuiltBackend = (typeof BUILT_BACKENDS)[number];

export interface BackendOptions {
  /** Where local sandboxes and their images live: a folder of this user's cache. */
  readonly stateDir: string;
  readonly localInclude: readonly string[];
  /** The variables a Docker client reads: DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, HOME. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The one thing to do where no Docker daemon answers. */
  readonly nextWithoutDaemon?: string;
}

/** The kind, where this edition has it. Throws `BenchError` (`usage`) where it has not. */
export function builtBackend(kind: SandboxKind): BuiltBackend {
  const found = BUILT_BACKENDS.find((built) => built === kind);
  if (found !== undefined) return found;
  throw new BenchError("usage", `--env ${kind} is not built yet in this edition`, {
    next: "use `--env docker` or `--env local`",
  });
}

/**
 * Opens the backend, or says why it cannot be had here and what can. Its code is loaded on first
 * use, so that a run pays for the one it uses.
 */
export async function openBackend(
  kind: BuiltBackend,
  options: BackendOptions,
): Promise<SandboxBackend> {
  switch (kind) {
    case "local":
      return await openLocal(options);
    case "docker": {
      const { DockerSandboxes } = await import("../sandboxes/docker/docker-sandboxes.ts");
      return await DockerSandboxes.connect(options);
    }
  }
}

/** A state folder that is full, or no folder, is the surroundings' fault and no bug of ours. */
async function openLocal(options: BackendOptions): Promise<SandboxBackend> {
  const { LocalSandboxes } = await import("../sandboxes/local/local-sandboxes.ts");
  try {
    return await LocalSandboxes.open(options);
  } catch (error) {
    // `ENOSPC`, `ENOTDIR`, `EROFS` and their like: the operating system said no.
    if (!/^E[A-Z0-9]+$/u.test(codeOf(error))) throw error;
    const message = `the state folder ${options.stateDir} cannot be used: ${messageOf(error)}`;
    throw new BenchError("unavailable", message, {
      next: "make room there, or set BENCHFLOW_STATE_DIR to another folder",
      cause: error,
    });
  }
}
