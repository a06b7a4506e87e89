import { backendReach } from "../core/plan/backend-reach.ts";
import { describeReach } from "../core/report/console/reach-lines.ts";
import type { Task } from "../core/model/task.ts";
import type { SandboxCaps } from "../core/ports/sandbox.ts";
import type { LocalCheck } from "../sandboxes/local/probe-local.ts";
import { readTasks } from "../stores/task-folders/read-tasks.ts";
import { BUILT_BACKENDS, type BuiltBackend } from "./backends.ts";
import { type BackendProbe, probeBackend, probeLocalBackend } from "./probe-backend.ts";

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
  /** Tasks to say of each backend how many it can run (attack 25); null for none. */
  readonly tasksDir: string | null;
}

/**
 * What works on this machine, looked at without changing it. Throws `BenchError` (`config`) when there
 * are no tasks at `tasksDir`.
 */
export async function diagnose({ env, tasksDir }: Surroundings): Promise<readonly Finding[]> {
  const found = tasksDir === null ? null : await readTasks(tasksDir, { gitPath: null });
  const local = await probeLocalBackend();
  const probes = { local: local.probe, docker: await probeBackend("docker", { env }) };
  const others = local.checks.filter(({ holds, isNeeded }) => !holds && !isNeeded);
  return [
    nodeFinding(),
    backendFinding("local", probes.local, namesOfHolding(local.checks)),
    ...others.map(({ name, detail, next }): Finding => {
      return { name: `--env local, ${name}`, works: false, detail, next, backend: false };
    }),
    backendFinding("docker", probes.docker),
    ...(found === null ? [] : reachFindings(found.tasks, probes)),
    ...(found?.skipped ?? []).map(({ name, reason }): Finding => {
      const next = `\`bench tasks check ${tasksDir ?? ""}\` lists what is wrong`;
      return { name: `task ${name}`, works: false, detail: reason, next, backend: false };
    }),
  ];
}

/** What is lacking has a line of its own. */
export function namesOfHolding(checks: readonly LocalCheck[]): string {
  return checks.flatMap(({ name, holds }) => (holds ? [name] : [])).join(", ");
}

function nodeFinding(): Finding {
  const { version, platform, arch } = process;
  const detail = `${version} on ${platform}/${arch}`;
  return { name: "Node.js", works: true, detail, next: null, backend: false };
}

function backendFinding(kind: BuiltBackend, probe: BackendProbe, has?: string): Finding {
  const about = { name: `--env ${kind}`, backend: true };
  if (probe.kind === "missing") {
    return { ...about, works: false, detail: probe.detail, next: probe.next };
  }
  return { ...about, works: true, detail: has ?? describeCaps(probe.caps), next: null };
}

/** For an agent that is not trusted: the controls need no more than it does. */
function reachFindings(
  tasks: readonly Task[],
  probes: Readonly<Record<BuiltBackend, BackendProbe>>,
): Finding[] {
  return BUILT_BACKENDS.map((environment) => {
    const probe = probes[environment];
    const reach = backendReach(tasks, {
      environment,
      caps: probe.kind === "works" ? probe.caps : null,
      missing: probe.kind === "works" ? null : "see above",
      agentIsHostile: true,
      runsSolution: false,
      withoutInternet: false,
    });
    return {
      name: `tasks on --env ${environment}`,
      works: reach.missing === null && reach.canRun === reach.tasks,
      detail: describeReach(reach),
      next: null,
      backend: false,
    };
  });
}

function describeCaps(caps: SandboxCaps): string {
  const limits = Object.entries(caps.limits).flatMap(([name, held]) => (held ? [name] : []));
  const network = caps.publicNetwork ? "open internet for tasks that ask" : "no open internet";
  return `${caps.platform}, limits: ${limits.join(" ") || "none"}, ${network}`;
}
