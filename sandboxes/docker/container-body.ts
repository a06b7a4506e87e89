import type {
  PreparedImage,
  ReadOnlyMount,
  SandboxLimits,
  SandboxOwner,
} from "../../core/ports/sandbox.ts";
import { GATE_PATH } from "./helper-program.ts";
import { BRIDGE } from "./network-guard.ts";
import { ownershipLabels } from "./ownership-labels.ts";
import { SUPERVISOR_STARTER } from "./supervisor-script.ts";

/** Docker's default capabilities without MKNOD and NET_RAW (attack 19). */
const CAPABILITIES = [
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "SETGID",
  "SETUID",
  "SETPCAP",
  "NET_BIND_SERVICE",
  "SYS_CHROOT",
  "AUDIT_WRITE",
  "SETFCAP",
];

/**
 * The daemon's own list, and the tmpfs that holds the control groups of version 1, which it leaves
 * writable for root.
 */
const READONLY_PATHS = [
  "/proc/bus",
  "/proc/fs",
  "/proc/irq",
  "/proc/sys",
  "/proc/sysrq-trigger",
  "/sys/fs/cgroup",
];

export interface ContainerPlan {
  readonly image: PreparedImage;
  readonly owner: SandboxOwner;
  readonly limits: SandboxLimits;
  readonly mounts?: readonly ReadOnlyMount[];
  /** A container that lends the gate: then this one starts with a network, at the gate. */
  readonly gateLenderId: string | null;
  /** A hard limit in the storage driver, where it has one. */
  readonly hasDiskQuota: boolean;
}

/**
 * The body of `POST /containers/create`. The image's own start command, health check and environment
 * do not run: PID 1 is our supervisor. The container starts without a network, which `network("public")`
 * gives it, or at a gate, where nothing of the image runs yet. Never restarted: a sandbox that dies is lost, not silently fresh (failures C-43).
 */
export function containerBody(plan: ContainerPlan): Record<string, unknown> {
  const { image, owner, limits, gateLenderId } = plan;
  const supervisor = ["/bin/sh", "-c", SUPERVISOR_STARTER];
  const memoryBytes = Math.round(limits.memoryMb * 1024 * 1024);
  return {
    Image: image.id,
    User: "0:0",
    WorkingDir: "/",
    Hostname: "sandbox",
    // A name without a value takes it out of the image's environment (Engine API).
    Env: Object.keys(image.env),
    Entrypoint: gateLenderId === null ? supervisor : [GATE_PATH, ...supervisor],
    Cmd: ["sandbox"],
    Healthcheck: { Test: ["NONE"] },
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Labels: ownershipLabels(owner),
    HostConfig: {
      NetworkMode: gateLenderId === null ? "none" : BRIDGE,
      VolumesFrom: gateLenderId === null ? [] : [`${gateLenderId}:ro`],
      IpcMode: "private",
      CgroupnsMode: "private",
      CapDrop: ["ALL"],
      CapAdd: CAPABILITIES,
      SecurityOpt: ["no-new-privileges"],
      ReadonlyPaths: READONLY_PATHS,
      Memory: memoryBytes,
      MemorySwap: memoryBytes,
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.pids,
      RestartPolicy: { Name: "no" },
      AutoRemove: false,
      LogConfig: { Type: "none" },
      // As `Mounts`, not `Binds`: a folder that the daemon does not see is refused, not made empty.
      Mounts: (plan.mounts ?? []).map(({ hostDir, path }) => ({
        Type: "bind",
        Source: hostDir,
        Target: path,
        ReadOnly: true,
        BindOptions: { Propagation: "rprivate" },
      })),
      ...(plan.hasDiskQuota ? { StorageOpt: { size: `${String(limits.storageMb)}m` } } : {}),
    },
  };
}
