import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BenchError } from "../core/errors.ts";
import type { SandboxCaps } from "../core/ports/sandbox.ts";
import type { LocalCheck } from "../sandboxes/local/probe-local.ts";
import type { BackendOptions, BuiltBackend } from "./backends.ts";

/** What a backend would be here, learnt without opening it. */
export type BackendProbe =
  | { readonly kind: "works"; readonly caps: SandboxCaps }
  | { readonly kind: "missing"; readonly detail: string; readonly next: string };

/**
 * Asks whether a backend works here and what it can hold; makes nothing that stays. Seconds at most:
 * a daemon that gives no answer is given up.
 */
export async function probeBackend(
  kind: BuiltBackend,
  { env }: Pick<BackendOptions, "env">,
): Promise<BackendProbe> {
  switch (kind) {
    case "local":
      return (await probeLocalBackend()).probe;
    case "docker":
      return await probeDocker(env);
  }
}

/** The same for local sandboxes, with each check. */
export async function probeLocalBackend(): Promise<{
  readonly probe: BackendProbe;
  readonly checks: readonly LocalCheck[];
}> {
  const { LocalSandboxes, capsOf } = await import("../sandboxes/local/local-sandboxes.ts");
  // It tries mounts in a folder; whoever only asks gets none in their cache for it.
  const scratch = await mkdtemp(join(tmpdir(), "bench-probe-"));
  try {
    const found = await LocalSandboxes.probe(scratch);
    const blocking = found.checks.find(({ holds, isNeeded }) => isNeeded && !holds);
    const probe: BackendProbe =
      blocking === undefined
        ? { kind: "works", caps: capsOf(found) }
        : { kind: "missing", detail: blocking.detail, next: blocking.next };
    return { probe, checks: found.checks };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function probeDocker(env: BackendOptions["env"]): Promise<BackendProbe> {
  const { DockerSandboxes } = await import("../sandboxes/docker/docker-sandboxes.ts");
  try {
    const docker = await DockerSandboxes.connect({ env });
    await docker.close();
    return { kind: "works", caps: docker.caps };
  } catch (error) {
    // A wrong DOCKER_HOST too is only a reason why this backend cannot be had.
    if (!(error instanceof BenchError) || error.kind === "bug") throw error;
    return { kind: "missing", detail: error.message, next: error.next };
  }
}
