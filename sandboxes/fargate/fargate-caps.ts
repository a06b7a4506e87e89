import type { SandboxCaps } from "../../core/ports/sandbox.ts";

/**
 * What a task's container on Fargate can hold. All containers of a task share one network, which only a
 * security group bounds: no phase can be cut off, so tasks that ask for that are refused in the plan.
 * Neither the number of processes nor one container's disk has a limit of its own, and a container's `cpu` is a
 * weight: it may use what the task's other containers leave (ECS developer guide, "Container definitions", `cpu`).
 */
export const FARGATE_CAPS: SandboxCaps = {
  rootExec: true,
  uidSeparation: true,
  noNewPrivs: true,
  noNetwork: "none",
  publicNetwork: true,
  compose: false,
  limits: { memory: true, cpu: false, pids: false, disk: false },
  maxCpus: 14,
  processors: null,
  maxLifetimeMs: null,
  platform: "linux/amd64",
};
