import type { ImageSource } from "../model/task.ts";

/** Bytes as they flow. Consumers pull, so a slow reader holds the writer back. */
export type ByteStream = AsyncIterable<Uint8Array>;

/** What a backend can hold. A task that needs more is refused in the plan, never degraded. */
export interface SandboxCaps {
  /** Phases can run as root inside the sandbox. */
  readonly rootExec: boolean;
  /** The agent gets a uid of its own, so files of root stay out of its reach. */
  readonly uidSeparation: boolean;
  readonly noNewPrivs: boolean;
  /** Whether the network can be cut: for a phase of its own, for the whole sandbox, or not at all. */
  readonly noNetwork: "phase" | "sandbox" | "none";
  /** Whether the sandbox can reach the open internet when a task asks for it. */
  readonly publicNetwork: boolean;
  readonly compose: boolean;
  readonly limits: {
    readonly memory: boolean;
    readonly cpu: boolean;
    readonly pids: boolean;
    readonly disk: boolean;
  };
  /** The most processors that a sandbox can be given; null where a limit may be any number. */
  readonly maxCpus: number | null;
  /** Processors that all sandboxes there share; null when that is not known or not so. */
  readonly processors: number | null;
  readonly maxLifetimeMs: number | null;
  /** OCI platform, for example `linux/amd64`. */
  readonly platform: string;
}

/** Who made a sandbox and until when it may live: enough to find and remove what a dead run left. */
export interface SandboxOwner {
  readonly runId: string;
  readonly jobName: string;
  readonly rolloutName: string;
  /** Identity of the owning process: `{boot id}/{pid namespace}/{pid}/{start ticks}`. */
  readonly process: string;
  readonly leaseMs: number;
}

export interface SandboxLimits {
  readonly cpus: number;
  readonly memoryMb: number;
  readonly storageMb: number;
  readonly pids: number;
}

/** `closed`: no network at all, loopback inside excepted. `public`: the open internet, private ranges blocked. */
export type NetworkPolicy = "closed" | "public";

export interface ImageRequest {
  readonly source: ImageSource;
  /** The build context: an absolute folder on this machine. */
  readonly contextDir: string;
  /** Names at its top that the image must not have, with what lies below: neither by `COPY .` nor by name. */
  readonly leaveOut?: readonly string[];
  readonly baseImageMap: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly limits: SandboxLimits;
  readonly owner: SandboxOwner;
  readonly signal: AbortSignal;
  /** Lines of the build's own output, for the trial's log. */
  readonly onLine: (line: string) => void;
}

/** An image ready to start from. `digest` is what was really built or found. */
export interface PreparedImage {
  readonly id: string;
  readonly digest: string | null;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** The user the image starts as: the Dockerfile's last USER. */
  readonly user: string;
  /** Its ENTRYPOINT, word by word; none when absent or empty. No backend runs it by itself. */
  readonly entrypoint?: readonly string[];
  /** True when this call built it, so that this run may remove it. */
  readonly builtHere: boolean;
}

/**
 * A folder of this machine that a sandbox sees read-only, with its files as they are: not even root
 * inside can change it, and what its owner changes later shows.
 */
export interface ReadOnlyMount {
  /** Absolute, without links. */
  readonly hostDir: string;
  /** Absolute, inside the sandbox; made where it is missing. */
  readonly path: string;
}

export interface SandboxRequest {
  readonly image: PreparedImage;
  readonly owner: SandboxOwner;
  readonly limits: SandboxLimits;
  readonly network: NetworkPolicy;
  readonly env: Readonly<Record<string, string>>;
  /** A backend that cannot hold one refuses the sandbox as `unsupported`. */
  readonly mounts?: readonly ReadOnlyMount[];
  readonly signal: AbortSignal;
}

export interface Command {
  readonly argv: readonly [string, ...string[]];
  /**
   * A uid; 0 is root. The gid is the same number, supplementary groups are cleared and, for other
   * uids, no_new_privs is set.
   */
  readonly uid: number;
  /** Where it starts. When it is missing or no folder, nothing runs and the call fails as `not-found`. */
  readonly cwd: string;
  /** The whole environment: nothing is inherited from the host, the image or the sandbox. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly stdin?: ByteStream;
  /** Bytes kept of each stream: the first half and the last half, what lies between is counted. */
  readonly maxOutputBytes?: number;
  /** Sees every byte of stdout and stderr as it comes, kept or not. */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => void;
  /** Aborted: the process tree is killed and the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface Completed {
  /**
   * 128 + signal number for a process that a signal ended; 127 for a program that is missing, 126
   * for one that may not be run.
   */
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly droppedBytes: number;
  /** The deadline passed; all that the command started was killed, daemons too. Output so far is kept. */
  readonly timedOut: boolean;
}

/** A live process: stdin and stdout for a line protocol, half-close included. */
export interface SandboxProcess {
  readonly stdout: ByteStream;
  readonly stderr: ByteStream;
  write(bytes: Uint8Array): Promise<void>;
  closeStdin(): Promise<void>;
  /** Kills it and all that it started; resolves when they are gone. */
  kill(): Promise<void>;
  readonly exitCode: Promise<number>;
}

export interface SandboxStats {
  readonly peakMemoryBytes: number | null;
  readonly oomKills: number | null;
  readonly cpuSeconds: number | null;
  readonly diskBytes: number | null;
}

/** A port on a sandbox's own loopback that leads to one socket of this machine and nowhere else. */
export interface ForwardedPort {
  readonly port: number;
  /** Takes the port away: its connections are cut, new ones are refused. Idempotent. */
  close(): Promise<void>;
}

/**
 * Why a sandbox call failed, decided where it failed. `build-failed`: the build context itself is
 * wrong, and the same context fails again. `build-lost`: something outside of it ended the build, such
 * as the builder or the network of a step that fetches. `entrypoint-ended`: the image's own ENTRYPOINT
 * ended before it came to its command.
 */
export type SandboxFailure =
  | "build-failed"
  | "build-lost"
  | "build-timeout"
  | "image-missing"
  | "entrypoint-ended"
  | "start-failed"
  | "lost"
  | "not-found"
  | "unsafe-path"
  | "disk-full"
  | "unsupported"
  | "backend-unavailable";

/** The only error that leaves an adapter for something that went wrong in or with a sandbox. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly failure: SandboxFailure;

  constructor(failure: SandboxFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.failure = failure;
  }
}

/** One running sandbox. Every call may throw `SandboxError`; `lost` when the sandbox is gone. */
export interface Sandbox {
  readonly id: string;
  /** What this sandbox's walls are, for result.json's `isolation`. */
  readonly isolation: {
    readonly image: string;
    readonly imageDigest: string | null;
    readonly seccomp: string;
    readonly notes: readonly string[];
  };
  /** Ends when the command's first process ends; daemons that it left behind live on. */
  exec(command: Command): Promise<Completed>;
  spawn(command: Command): Promise<SandboxProcess>;
  /**
   * Unpacks a tar stream below `dir` (made if missing: root, 0755), owners and modes kept. No link
   * is followed: one where a folder is needed fails as `unsafe-path`, as do names that leave `dir`;
   * one in a file's place is replaced.
   */
  put(tar: ByteStream, dir: string): Promise<void>;
  /**
   * A tar stream of `path` and everything below it, links as links, sockets left out; names start
   * with the last part of `path`. `not-found` when it is not there, `unsafe-path` through a link.
   */
  get(path: string): ByteStream;
  network(policy: NetworkPolicy): Promise<void>;
  /**
   * Opens a port on the sandbox's own loopback, under any network policy, that no other sandbox can
   * reach. Each connection is carried to the unix socket at `socketPath`, byte for byte, with its
   * half-close and its back-pressure; where nothing listens at that path, it is cut. At most 256
   * connections at a time. The port ends with the sandbox, and with this process.
   */
  forward(socketPath: string): Promise<ForwardedPort>;
  /** Kills every process of the uid until none is left; resolves to the count then seen: 0 is the proof. */
  killUser(uid: number): Promise<number>;
  /**
   * Kills every process that was not alive at the mark, children of older ones too, until none is
   * left; resolves to the count left. Descendants of the mark's keepers are spared; one whose parent
   * has ended descends from nobody.
   */
  killSince(mark: ProcessMark): Promise<number>;
  mark(): Promise<ProcessMark>;
  stats(): Promise<SandboxStats>;
  renew(leaseMs: number): Promise<void>;
  /** Idempotent; resolves when the sandbox, its mounts, processes and cgroups are proven gone. */
  destroy(): Promise<void>;
}

/** The processes alive at a moment, as pid and start time, so that a reused pid is not taken for one. */
export interface ProcessMark {
  readonly processes: readonly string[];
  /** Those of them whose descendants may live on, however late they came: a task's own services. */
  readonly keepers?: readonly string[];
}

/** A sandbox as a listing shows it, whoever made it. */
export interface SandboxRecord {
  readonly id: string;
  readonly owner: SandboxOwner | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly ownerState: "alive" | "dead" | "unknown";
}

/** A backend: prepares images, makes sandboxes, finds what was left behind. */
export interface SandboxBackend {
  readonly name: "local" | "docker" | "fargate" | "e2b";
  readonly caps: SandboxCaps;
  prepare(request: ImageRequest): Promise<PreparedImage>;
  create(request: SandboxRequest): Promise<Sandbox>;
  list(): Promise<readonly SandboxRecord[]>;
  /** Removes one sandbox by id, and everything that belongs to it; one that is gone is no error. */
  remove(id: string): Promise<void>;
  /** Removes the images that runs built, keep as cache and nothing uses now; resolves to their names. */
  removeImages(): Promise<readonly string[]>;
  /**
   * No sandbox is wanted for the time being: what is kept for the next one may end, beside what the
   * caller does meanwhile. One that is wanted after all is made as ever. `close` waits for the end.
   */
  rest?(): void;
  /** Closes connections; sandboxes stay. */
  close(): Promise<void>;
}
