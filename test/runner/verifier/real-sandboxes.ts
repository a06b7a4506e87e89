import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import type {
  Command,
  PreparedImage,
  Sandbox,
  SandboxBackend,
  SandboxOwner,
} from "../../../core/ports/sandbox.ts";
import { identifyProcess } from "../../../host/process-identity.ts";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { LocalSandboxes } from "../../../sandboxes/local/local-sandboxes.ts";
import { dockerHost } from "../../setup/docker-host.ts";

/** The systems that set-up and hardening must hold on. */
export const WORLDS = [
  { name: "local", image: "debian:bookworm-slim", hasGnuFind: true },
  { name: "docker with Debian", image: "bench-base:debian", hasGnuFind: true },
  { name: "docker with busybox", image: "bench-base:busybox", hasGnuFind: false },
] as const;
export type World = (typeof WORLDS)[number];

const OWNER: SandboxOwner = {
  runId: "hardening-run",
  jobName: "job",
  rolloutName: "task__0000000a",
  process: identifyProcess(),
  leaseMs: 600_000,
};
const LIMITS = { cpus: 2, memoryMb: 512, storageMb: 512, pids: 200 };
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A world that is open while the tests of one `describe` run. */
export interface OpenWorld {
  /** A running sandbox, ended with the test. */
  makeSandbox(): Promise<Sandbox>;
}

/** Opens a world before the first test of the `describe` that calls this, and closes it after the last. */
export function useWorld(world: World): OpenWorld {
  const common = { owner: OWNER, limits: LIMITS, signal: new AbortController().signal };
  const made: Sandbox[] = [];
  const ending: Promise<void>[] = [];
  // A daemon makes and ends sandboxes while tests run: none waits for its own, nor for another's end.
  let spare: Promise<Sandbox> | null = null;
  let opened: {
    readonly stateDir: string;
    readonly backend: SandboxBackend;
    readonly image: PreparedImage;
  };
  beforeAll(async () => {
    const stateDir = mkdtempSync(join(tmpdir(), "bench-hardening-"));
    const backend: SandboxBackend =
      world.name === "local"
        ? await LocalSandboxes.open({ stateDir, localInclude: [] })
        : await DockerSandboxes.connect({ env: { DOCKER_HOST: dockerHost() } });
    const image = await backend.prepare({
      ...common,
      source: { kind: "prebuilt", reference: world.image },
      contextDir: stateDir,
      baseImageMap: {},
      timeoutMs: 60_000,
      onLine: () => undefined,
    });
    opened = { stateDir, backend, image };
  });
  const create = async (): Promise<Sandbox> => {
    const { backend, image } = opened;
    return await backend.create({ ...common, image, network: "closed", env: {} });
  };
  afterEach(() => {
    ending.push(...made.splice(0).map((sandbox) => sandbox.destroy()));
    // Whoever waits for them below gets the failure.
    for (const each of ending) each.catch(() => undefined);
  });
  afterAll(async () => {
    await (await spare)?.destroy();
    await Promise.all(ending);
    await opened.backend.close();
    rmSync(opened.stateDir, { recursive: true, force: true });
  });
  return {
    makeSandbox: async () => {
      const sandbox = await (spare ?? create());
      made.push(sandbox);
      spare = create();
      spare.catch(() => undefined);
      return sandbox;
    },
  };
}

/** What a shell line prints as the user; its exit code must be 0. */
export async function sh(
  sandbox: Sandbox,
  line: string,
  over: Partial<Command> = {},
): Promise<string> {
  const command = {
    argv: ["/bin/sh", "-c", line],
    uid: 0,
    cwd: "/",
    env: { PATH },
    ...over,
  } as const;
  const { exitCode, stdout, stderr } = await sandbox.exec({ ...command, timeoutMs: 60_000 });
  const printed = new TextDecoder().decode(stdout).trim();
  if (exitCode !== 0)
    throw new Error(`exit ${exitCode} of ${line}: ${printed} ${new TextDecoder().decode(stderr)}`);
  return printed;
}
