import * as z from "zod";
import type { SandboxCaps } from "../../core/ports/sandbox.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError } from "./engine-error.ts";

const Info = z.looseObject({
  ServerVersion: z.string().default("unknown"),
  OSType: z.string().default("linux"),
  Architecture: z.string().default("x86_64"),
  KernelVersion: z.string().default("unknown"),
  Driver: z.string().default("unknown"),
  DriverStatus: z.array(z.array(z.string())).nullish(),
  CgroupVersion: z.string().default("1"),
  CgroupDriver: z.string().default("cgroupfs"),
  MemoryLimit: z.boolean().default(false),
  SwapLimit: z.boolean().default(false),
  CpuCfsQuota: z.boolean().default(false),
  PidsLimit: z.boolean().default(false),
  NCPU: z.int().default(0),
  SecurityOptions: z.array(z.string()).nullish(),
  SystemTime: z.string().optional(),
});

/** What a daemon is and which of its walls hold; `bench doctor` prints it. */
export interface DaemonFacts {
  readonly version: string;
  readonly apiVersion: string;
  readonly platform: string;
  readonly kernel: string;
  readonly storageDriver: string;
  readonly cgroupVersion: string;
  readonly cgroupDriver: string;
  readonly isRootless: boolean;
  /** The seccomp profile that containers get: `builtin`, `default`, or `unconfined` for none. */
  readonly seccomp: string;
  readonly limits: SandboxCaps["limits"];
  /** Processors: the daemon makes no container that asks for more. Null when it does not say. */
  readonly cpus: number | null;
  /** `try`: only an attempt tells, since the daemon does not say how its file system was mounted. */
  readonly diskQuota: "yes" | "try" | "no";
  /** The daemon's clock less this machine's, in milliseconds: leases end by the daemon's. */
  readonly clockOffsetMs: number;
  /** What a person should know before trusting the walls, one sentence each. */
  readonly notes: readonly string[];
}

/** Asks the daemon about itself. Throws `backend-unavailable` when it gives no answer. */
export async function probeDaemon(client: EngineClient): Promise<DaemonFacts> {
  const askedAt = Date.now();
  const info = await readInfo(client);
  const now = (askedAt + Date.now()) / 2;
  const options = info.SecurityOptions ?? [];
  const isRootless = options.some((option) => option.includes("rootless"));
  const hasCgroups = info.CgroupDriver !== "none";
  const diskQuota = diskQuotaOf(info);
  const facts = {
    version: info.ServerVersion,
    apiVersion: client.apiVersion,
    platform: platformOf(info),
    kernel: info.KernelVersion,
    storageDriver: info.Driver,
    cgroupVersion: info.CgroupVersion,
    cgroupDriver: info.CgroupDriver,
    isRootless,
    seccomp: seccompOf(options),
    limits: {
      memory: hasCgroups && info.MemoryLimit,
      cpu: hasCgroups && info.CpuCfsQuota,
      pids: hasCgroups && info.PidsLimit,
      disk: diskQuota === "yes",
    },
    cpus: info.NCPU > 0 ? info.NCPU : null,
    diskQuota,
    clockOffsetMs: info.SystemTime === undefined ? 0 : Date.parse(info.SystemTime) - now,
  };
  const notes = notesOn(facts, info.SwapLimit);
  if (client.endpoint.kind === "tcp")
    notes.push("the docker host is remote: its own public addresses are not closed to sandboxes");
  return { ...facts, notes };
}

async function readInfo(client: EngineClient): Promise<z.infer<typeof Info>> {
  try {
    return await client.json(Info, "GET", "/info", { timeoutMs: 30_000 });
  } catch (error) {
    throw asSandboxError(error, "backend-unavailable", "docker does not describe itself");
  }
}

const ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: "amd64",
  aarch64: "arm64",
  armv7l: "arm/v7",
  i686: "386",
};

function platformOf({ OSType, Architecture }: z.infer<typeof Info>): string {
  return `${OSType}/${ARCHITECTURES[Architecture] ?? Architecture}`;
}

/** `name=seccomp,profile=builtin` since Docker 24, `profile=default` before. */
function seccompOf(options: readonly string[]): string {
  const option = options.find((each) => each.startsWith("name=seccomp"));
  if (option === undefined) return "unconfined";
  return /profile=([^,]+)/u.exec(option)?.[1] ?? "default";
}

function diskQuotaOf({ Driver, DriverStatus }: z.infer<typeof Info>): DaemonFacts["diskQuota"] {
  if (Driver === "btrfs" || Driver === "zfs") return "yes";
  const backing = DriverStatus?.find(([name]) => name === "Backing Filesystem")?.[1];
  return Driver === "overlay2" && backing === "xfs" ? "try" : "no";
}

function notesOn(facts: Omit<DaemonFacts, "notes">, hasSwapLimit: boolean): string[] {
  const notes: string[] = [];
  const { limits } = facts;
  if (facts.seccomp === "unconfined") notes.push("the daemon applies no seccomp profile");
  if (!limits.memory) notes.push("the daemon cannot limit memory");
  else if (!hasSwapLimit) notes.push("the daemon cannot limit swap");
  if (!limits.cpu) notes.push("the daemon cannot limit processor time");
  if (!limits.pids) notes.push("the daemon cannot limit the number of processes");
  if (!limits.disk) notes.push("disk use is polled, not limited by the storage driver");
  return notes;
}
