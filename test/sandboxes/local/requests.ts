import type { ImageRequest, SandboxRequest } from "../../../core/ports/sandbox.ts";

interface RequestFields {
  readonly process: string;
  readonly contextDir: string;
  readonly digest: string;
}

/** Requests with everything filled in that the tests of local sandboxes do not care about. */
export function runRequest({ process, contextDir, digest }: RequestFields): {
  readonly image: ImageRequest;
  readonly sandbox: Omit<SandboxRequest, "image">;
} {
  const owner = {
    runId: "run",
    jobName: "job",
    rolloutName: "task__00000000",
    process,
    leaseMs: 600_000,
  };
  const limits = { cpus: 2, memoryMb: 512, storageMb: 512, pids: 200 };
  const { signal } = new AbortController();
  return {
    image: {
      source: { kind: "dockerfile", contextDigest: `sha256:${digest}` },
      contextDir,
      baseImageMap: {},
      timeoutMs: 60_000,
      limits,
      owner,
      signal,
      onLine: () => undefined,
    },
    sandbox: { owner, limits, network: "closed", env: {}, signal },
  };
}
