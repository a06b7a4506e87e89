import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { PreparedImage, SandboxOwner } from "../../../core/ports/sandbox.ts";
import { identifyProcess } from "../../../host/process-identity.ts";
import { type OpenFixture, openFixture } from "../../../sandboxes/contract/sandbox-fixture.ts";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { dockerHost } from "../../setup/docker-host.ts";
import { RawEngine } from "./raw-engine.ts";

export const OWNER: SandboxOwner = {
  runId: `contract-${String(process.pid)}`,
  jobName: "2026-01-01__00-00-00",
  rolloutName: "contract__0123abcd",
  process: identifyProcess(),
  leaseMs: 600_000,
};

export const LIMITS = { cpus: 2, memoryMb: 1024, storageMb: 1024, pids: 256 };

/** A backend on the tests' daemon, and a look at that daemon that does not go through the backend. */
export interface OpenDocker extends OpenFixture {
  readonly backend: DockerSandboxes;
  readonly raw: RawEngine;
  /** Everything of this run that the daemon still holds, whichever sandbox it was for. */
  allLeftovers(): Promise<readonly unknown[]>;
}

export async function openDocker(reference: string): Promise<OpenDocker> {
  const host = dockerHost();
  const raw = new RawEngine(host);
  const backend = await DockerSandboxes.connect({ env: { DOCKER_HOST: host } });
  const image = await prebuilt(backend, reference);
  const leftovers = async (id: string): Promise<readonly string[]> => {
    const containers = await raw.list("/containers/json?all=1");
    const found = containers.filter((each) => JSON.stringify(each).includes(id));
    return [...found.map(() => `container ${id}`), ...hostLeftovers(id)];
  };
  const open = openFixture({ backend, image, owner: OWNER, leftovers });
  const filters = JSON.stringify({ label: [`benchflow.run=${OWNER.runId}`] });
  return {
    ...open,
    backend,
    raw,
    allLeftovers: async () =>
      await raw.list(`/containers/json?all=1&filters=${encodeURIComponent(filters)}`),
  };
}

/** An image of the daemon, as the backend gives it. */
export async function prebuilt(
  backend: DockerSandboxes,
  reference: string,
): Promise<PreparedImage> {
  return await backend.prepare({
    source: { kind: "prebuilt", reference },
    contextDir: "/nonexistent",
    baseImageMap: {},
    timeoutMs: 60_000,
    limits: LIMITS,
    owner: OWNER,
    signal: new AbortController().signal,
    onLine: () => undefined,
  });
}

/** Mounts, control groups and processes of a container, when the daemon is on this machine. */
function hostLeftovers(id: string): string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(id));
  const found = execFileSync(
    "find",
    ["/sys/fs/cgroup", "-ignore_readdir_race", "-maxdepth", "4", "-name", `*${id}*`],
    {
      encoding: "utf8",
    },
  );
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .filter((pid) => readOrEmpty(`/proc/${pid}/cmdline`).includes(id));
  const groups = found.split("\n").filter(Boolean);
  return [...mounts, ...groups, ...processes.map((pid) => `process ${pid}`)];
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A process that has ended meanwhile.
    return "";
  }
}
