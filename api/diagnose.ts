import { BenchError } from "../core/errors.ts";
import type { SandboxCaps } from "../core/ports/sandbox.ts";

export interface Finding {
  readonly name: string;
  readonly works: boolean;
  readonly detail: string;
  /** One step; null when there is none to take. */
  readonly next: string | null;
  /** True for the line that says whether a whole backend can be used. */
  readonly backend: boolean;
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
}

/** What works on this machine, looked at without changing it. */
export async function diagnose(surroundings: Surroundings): Promise<readonly Finding[]> {
  return [nodeFinding(), ...(await localFindings(surroundings)), await dockerFinding(surroundings)];
}

function nodeFinding(): Finding {
  const { version, platform, arch } = process;
  const detail = `${version} on ${platform}/${arch}`;
  return { name: "Node.js", works: true, detail, next: null, backend: false };
}

async function localFindings({ stateDir }: Surroundings): Promise<Finding[]> {
  const { LocalSandboxes } = await import("../sandboxes/local/local-sandboxes.ts");
  const { checks } = await LocalSandboxes.probe(stateDir);
  const missing = checks.filter(({ holds }) => !holds);
  const blocking = missing.find(({ isNeeded }) => isNeeded);
  const whole: Finding = {
    name: "--env local",
    works: blocking === undefined,
    detail: blocking?.detail ?? checks.map(({ name }) => name).join(", "),
    next: blocking?.next ?? null,
    backend: true,
  };
  const others = missing
    .filter((check) => check !== blocking)
    .map(({ name, detail, next }): Finding => ({
      name: `--env local, ${name}`,
      works: false,
      detail,
      next,
      backend: false,
    }));
  return [whole, ...others];
}

async function dockerFinding({ env }: Surroundings): Promise<Finding> {
  const { DockerSandboxes } = await import("../sandboxes/docker/docker-sandboxes.ts");
  const about = { name: "--env docker", backend: true };
  try {
    const docker = await DockerSandboxes.connect({ env });
    const detail = describeCaps(docker.caps);
    await docker.close();
    return { ...about, works: true, detail, next: null };
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    return { ...about, works: false, detail: error.message, next: error.next };
  }
}

function describeCaps(caps: SandboxCaps): string {
  const limits = Object.entries(caps.limits).flatMap(([name, held]) => (held ? [name] : []));
  const network = caps.publicNetwork ? "open internet for tasks that ask" : "no open internet";
  return `${caps.platform}, limits: ${limits.join(" ") || "none"}, ${network}`;
}
