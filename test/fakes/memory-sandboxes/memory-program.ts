import type { ByteStream, Command, SandboxOwner } from "../../../core/ports/sandbox.ts";
import type { MemoryTree } from "./memory-tree.ts";

/** What a program of a memory sandbox gets when it runs. */
export interface ProgramRun {
  readonly argv: Command["argv"];
  readonly uid: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: ByteStream;
  readonly tree: MemoryTree;
  readonly owner: SandboxOwner;
  /** Aborted when the program is killed. */
  readonly signal: AbortSignal;
  readonly print: (bytes: string | Uint8Array) => void;
  readonly complain: (text: string) => void;
}

/** A program, as code of the test: resolves to its exit code. */
export type MemoryProgram = (run: ProgramRun) => Promise<number>;

/** A program that every image has and no memory holds: what needs it cannot be shown in memory. */
export class NotInMemory extends Error {
  override readonly name = "NotInMemory";
}

/** The few programs whose whole behaviour fits here. */
export const MEMORY_PROGRAMS: ReadonlyMap<string, MemoryProgram> = new Map<string, MemoryProgram>([
  ["true", async () => 0],
  ["false", async () => 1],
  [
    "cat",
    async ({ stdin, print }) => {
      for await (const chunk of stdin) print(chunk);
      return 0;
    },
  ],
  [
    "printf",
    async ({ argv, print }) => {
      if (argv[1] !== "%s") throw new NotInMemory(`printf ${argv[1] ?? ""}`);
      print(argv.slice(2).join(""));
      return 0;
    },
  ],
  [
    "env",
    async ({ argv, env, print }) => {
      const end = argv[1] === "-0" ? "\0" : "\n";
      for (const [name, value] of Object.entries(env)) print(`${name}=${value}${end}`);
      return 0;
    },
  ],
]);

const IN_EVERY_IMAGE = new Set(["sh", "bash", "perl", "setsid", "mkdir", "ls", "test", "id"]);

/**
 * What runs under a name: a program of the test, one of ours, or what a shell says of a missing one.
 * Throws `NotInMemory` for one that every image has and no test brought.
 */
export function findProgram(
  name: string,
  programs: ReadonlyMap<string, MemoryProgram>,
  tree: MemoryTree,
): MemoryProgram {
  const base = name.split("/").at(-1) ?? "";
  const isSystemPath = name === base || /^\/(?:usr\/)?s?bin\/[^/]+$/u.test(name);
  const found = isSystemPath ? (programs.get(base) ?? MEMORY_PROGRAMS.get(base)) : undefined;
  if (found !== undefined) return found;
  if (isSystemPath && IN_EVERY_IMAGE.has(base)) throw new NotInMemory(base);
  const isThere = name.startsWith("/") && tree.kindOf(name) !== null;
  return async () => (isThere ? 126 : 127);
}
