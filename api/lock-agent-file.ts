import { rename, rm, writeFile } from "node:fs/promises";
import { BenchError, messageOf } from "../core/errors.ts";
import { lockPackages } from "../stores/agents/lock-packages.ts";
import { lockPathOf, readOwnDefinition } from "./own-agent-file.ts";

export interface WrittenLock {
  /** Null for an agent without packages. */
  readonly path: string | null;
  /** Of the whole tree, for all platforms. */
  readonly packages: number;
}

/**
 * Writes the lock of an agent's packages beside its file, in the place of an earlier one. Throws
 * `BenchError`: `config` for a file that describes no agent, `unavailable` where npm or the disk fails.
 */
export async function lockAgentFile(
  file: string,
  npm: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly signal: AbortSignal;
  },
): Promise<WrittenLock> {
  const definition = await readOwnDefinition(file);
  if (Object.keys(definition.packages).length === 0) return { path: null, packages: 0 };
  const lock = await lockPackages(definition.packages, npm);
  const path = lockPathOf(file);
  const part = `${path}.${String(process.pid)}.part`;
  try {
    await writeFile(part, `${JSON.stringify(lock, null, 2)}\n`);
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true });
    throw new BenchError("unavailable", `${path} cannot be written (${messageOf(cause)})`, {
      next: "make its folder writable",
      cause,
    });
  }
  return { path, packages: Object.keys(lock.packages).length };
}
