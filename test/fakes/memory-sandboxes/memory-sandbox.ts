import { createServer } from "node:net";
import {
  type ByteStream,
  type Command,
  type Completed,
  type ForwardedPort,
  type NetworkPolicy,
  type ProcessMark,
  type Sandbox,
  SandboxError,
  type SandboxOwner,
  type SandboxProcess,
  type SandboxStats,
} from "../../../core/ports/sandbox.ts";
import { forwardServer } from "../../../sandboxes/forward/forward-server.ts";
import { BytePipe } from "./byte-pipe.ts";
import { findProgram, type MemoryProgram } from "./memory-program.ts";
import { MemoryTree } from "./memory-tree.ts";

const KILLED = 137;

export interface MemorySandboxParts {
  readonly id: string;
  readonly owner: SandboxOwner;
  readonly imageDigest: string | null;
  readonly programs: ReadonlyMap<string, MemoryProgram>;
  readonly renew: (leaseMs: number) => void;
  readonly forget: () => void;
}

interface Running {
  readonly uid: number;
  readonly kill: () => void;
  readonly exitCode: Promise<number>;
}

/** A sandbox in memory: files in a tree, programs as code of the test, no network at all. */
export class MemorySandbox implements Sandbox {
  readonly id: string;
  readonly isolation: Sandbox["isolation"];
  readonly tree = new MemoryTree();
  readonly networks: NetworkPolicy[] = [];
  readonly #parts: MemorySandboxParts;
  readonly #running = new Map<string, Running>();
  readonly #gone = new AbortController();
  readonly #ports = new Set<ForwardedPort>();
  #started = 0;

  constructor(parts: MemorySandboxParts) {
    this.id = parts.id;
    this.#parts = parts;
    const { imageDigest } = parts;
    this.isolation = { image: "memory", imageDigest, seccomp: "none", notes: [] };
    for (const folder of ["/root", "/tmp", "/usr/bin", "/app"]) this.tree.makeFolder(folder);
    this.tree.write("/etc/passwd", "root:x:0:0::/root:/bin/sh\n");
  }

  exec(command: Command): Promise<Completed> {
    const completed = this.#exec(command);
    // Whoever waits gets the rejection; a check that gave up before must not fail a second time.
    completed.catch(() => undefined);
    return completed;
  }

  async #exec(command: Command): Promise<Completed> {
    const kept = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
    const running = this.#start(command, command.stdin ?? noBytes(), (stream, chunk) => {
      kept[stream].push(chunk);
      command.onOutput?.(stream, chunk);
    });
    let timedOut = false;
    const kill = (): void => running.kill();
    const timer = setTimeout(
      () => {
        timedOut = true;
        running.kill();
      },
      command.timeoutMs ?? 2 ** 31 - 1,
    );
    command.signal?.addEventListener("abort", kill);
    try {
      const exitCode = await running.exitCode;
      this.#assertAlive();
      command.signal?.throwIfAborted();
      const max = command.maxOutputBytes ?? Infinity;
      const [stdout, stderr] = [keep(kept.stdout, max), keep(kept.stderr, max)];
      const droppedBytes = stdout.droppedBytes + stderr.droppedBytes;
      return { exitCode, stdout: stdout.bytes, stderr: stderr.bytes, droppedBytes, timedOut };
    } finally {
      clearTimeout(timer);
      command.signal?.removeEventListener("abort", kill);
    }
  }

  async spawn(command: Command): Promise<SandboxProcess> {
    const [stdin, stdout, stderr] = [new BytePipe(), new BytePipe(), new BytePipe()];
    const pipes = { stdout, stderr };
    const running = this.#start(command, stdin.read(), (stream, chunk) => {
      pipes[stream].push(chunk);
    });
    const exitCode = running.exitCode.finally(() => {
      stdout.end();
      stderr.end();
    });
    exitCode.catch(() => undefined);
    return {
      stdout: stdout.read(),
      stderr: stderr.read(),
      write: async (bytes) => stdin.push(bytes),
      closeStdin: async () => stdin.end(),
      kill: async () => {
        running.kill();
        await exitCode;
      },
      exitCode,
    };
  }

  async put(tar: ByteStream, dir: string): Promise<void> {
    this.#assertAlive();
    await this.tree.put(tar, dir);
  }

  async *get(path: string): ByteStream {
    this.#assertAlive();
    yield* this.tree.get(path);
  }

  async network(policy: NetworkPolicy): Promise<void> {
    this.#assertAlive();
    if (policy !== "closed") throw new SandboxError("unsupported", "memory has no network");
    this.networks.push(policy);
  }

  /** On this machine's own loopback, since its programs are this process's code. */
  async forward(socketPath: string): Promise<ForwardedPort> {
    this.#assertAlive();
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const forwarded = forwardServer(server, socketPath);
    this.#ports.add(forwarded);
    return forwarded;
  }

  async killUser(uid: number): Promise<number> {
    return await this.#killWhere((_, running) => running.uid === uid);
  }

  async killSince(mark: ProcessMark): Promise<number> {
    return await this.#killWhere((name) => !mark.processes.includes(name));
  }

  async mark(): Promise<ProcessMark> {
    this.#assertAlive();
    return { processes: [...this.#running.keys()] };
  }

  async stats(): Promise<SandboxStats> {
    this.#assertAlive();
    return { peakMemoryBytes: null, oomKills: null, cpuSeconds: null, diskBytes: null };
  }

  async renew(leaseMs: number): Promise<void> {
    this.#assertAlive();
    this.#parts.renew(leaseMs);
  }

  async destroy(): Promise<void> {
    await this.vanish();
  }

  /** Ends everything in it, whoever holds it: what waits for it fails as lost. */
  async vanish(): Promise<void> {
    this.#gone.abort();
    await Promise.all([...this.#ports].map((port) => port.close()));
    const ends = [...this.#running.values()].map(({ kill, exitCode }) => {
      kill();
      return exitCode;
    });
    await Promise.allSettled(ends);
    this.#parts.forget();
  }

  #start(
    command: Command,
    stdin: ByteStream,
    onOutput: (stream: "stdout" | "stderr", chunk: Uint8Array) => void,
  ): Running {
    this.#assertAlive();
    command.signal?.throwIfAborted();
    if (this.tree.kindOf(command.cwd) !== "directory")
      throw new SandboxError("not-found", `${command.cwd} is no folder`);
    const killed = new AbortController();
    const { argv, uid, cwd, env } = command;
    const program = findProgram(argv[0], this.#parts.programs, this.tree);
    const run = {
      argv,
      uid,
      cwd,
      env,
      stdin,
      tree: this.tree,
      owner: this.#parts.owner,
      signal: killed.signal,
      print: (bytes: string | Uint8Array) => onOutput("stdout", Buffer.from(bytes)),
      complain: (text: string) => onOutput("stderr", Buffer.from(text)),
    };
    const name = String((this.#started += 1));
    const ended = new Promise<number>((resolve) => {
      killed.signal.addEventListener("abort", () => resolve(KILLED));
    });
    const exitCode = Promise.race([program(run), ended]).then((code) => {
      this.#running.delete(name);
      this.#assertAlive();
      return code;
    });
    const running = { uid, kill: () => killed.abort(), exitCode };
    this.#running.set(name, running);
    return running;
  }

  async #killWhere(isWanted: (name: string, running: Running) => boolean): Promise<number> {
    this.#assertAlive();
    const wanted = [...this.#running].filter(([name, running]) => isWanted(name, running));
    for (const [, running] of wanted) running.kill();
    await Promise.all(wanted.map(([, { exitCode }]) => exitCode));
    return wanted.filter(([name]) => this.#running.has(name)).length;
  }

  #assertAlive(): void {
    if (this.#gone.signal.aborted) throw new SandboxError("lost", `sandbox ${this.id} is gone`);
  }
}

/** A command without stdin reads an end at once. */
async function* noBytes(): AsyncGenerator<Uint8Array> {
  yield* [];
}

/** The first half and the last half of the bytes, and how many lay between. */
function keep(
  chunks: readonly Uint8Array[],
  max: number,
): { readonly bytes: Buffer; readonly droppedBytes: number } {
  const bytes = Buffer.concat(chunks);
  if (bytes.length <= max) return { bytes, droppedBytes: 0 };
  const half = Math.floor(max / 2);
  const kept = Buffer.concat([
    bytes.subarray(0, half),
    bytes.subarray(bytes.length - (max - half)),
  ]);
  return { bytes: kept, droppedBytes: bytes.length - kept.length };
}
