import type {
  ByteStream,
  Command,
  Completed,
  ForwardedPort,
  ProcessMark,
  Sandbox,
  SandboxProcess,
  SandboxStats,
} from "../../../core/ports/sandbox.ts";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import type { TarHeader } from "../../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../../core/tar/write-tar.ts";

/** What an exec of a test answers: bytes it prints, and how it ends. */
export interface ScriptedExec {
  readonly prints?: string | Uint8Array;
  readonly exitCode?: number;
  readonly timedOut?: boolean;
  readonly droppedBytes?: number;
  readonly throws?: Error;
}

/**
 * A sandbox that answers from a list, for what a real one does only by bad luck: an exec that hangs
 * without a byte, a process that cannot be killed, a forged archive. Everything that a real sandbox
 * can show is tested on a real one.
 */
export class ScriptedSandbox implements Sandbox {
  readonly id = "scripted";
  readonly isolation = { image: "none", imageDigest: null, seccomp: "none", notes: [] };
  readonly commands: Command[] = [];
  readonly puts: { dir: string; bytes: Buffer }[] = [];
  readonly trees = new Map<string, readonly TarSource[] | Error>();
  readonly execs: ScriptedExec[] = [];
  leftSince: number[] = [];
  killed = 0;

  async exec(command: Command): Promise<Completed> {
    this.commands.push(command);
    for await (const chunk of command.stdin ?? []) void chunk;
    const answer = this.execs.shift() ?? {};
    if (answer.throws !== undefined) throw answer.throws;
    const stdout = Buffer.from(answer.prints ?? "");
    if (stdout.length > 0) command.onOutput?.("stdout", stdout);
    return {
      exitCode: answer.exitCode ?? 0,
      stdout,
      stderr: Buffer.alloc(0),
      droppedBytes: answer.droppedBytes ?? 0,
      timedOut: answer.timedOut ?? false,
    };
  }

  async spawn(): Promise<SandboxProcess> {
    throw new SandboxError("unsupported", "no process in a scripted sandbox");
  }

  async forward(): Promise<ForwardedPort> {
    throw new SandboxError("unsupported", "no port in a scripted sandbox");
  }

  async put(tar: ByteStream, dir: string): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of tar) chunks.push(chunk);
    this.puts.push({ dir, bytes: Buffer.concat(chunks) });
  }

  async *get(path: string): ByteStream {
    const tree = this.trees.get(path);
    if (tree === undefined) throw new SandboxError("not-found", `${path} is not there`);
    if (tree instanceof Error) throw tree;
    yield* writeTar(tree);
  }

  async network(): Promise<void> {}

  async killUser(): Promise<number> {
    this.killed += 1;
    return 0;
  }

  async killSince(): Promise<number> {
    this.killed += 1;
    return this.leftSince.shift() ?? 0;
  }

  async mark(): Promise<ProcessMark> {
    return { processes: [] };
  }

  async stats(): Promise<SandboxStats> {
    return { peakMemoryBytes: null, oomKills: null, cpuSeconds: null, diskBytes: null };
  }

  async renew(): Promise<void> {}

  async destroy(): Promise<void> {}
}

export interface EntryOver extends Partial<Omit<TarHeader, "name" | "linkName">> {
  readonly content?: string | Uint8Array;
  readonly linkName?: string | Uint8Array;
}

/** One entry of an archive, a file unless it says otherwise. */
export function entry(name: string | Uint8Array, over: EntryOver = {}): TarSource {
  const { content = "", linkName = "", ...header } = over;
  const bytes = Buffer.from(content);
  return {
    header: {
      kind: "file",
      mode: 0o644,
      uid: 0,
      gid: 0,
      mtimeSeconds: 0,
      sizeBytes: bytes.length,
      ...header,
      name: Buffer.from(name),
      linkName: Buffer.from(linkName),
    },
    content: [bytes],
  };
}

/** The root folder that every `get` of a folder begins with. */
export function root(name: string): TarSource {
  return entry(name, { kind: "directory", mode: 0o755 });
}
