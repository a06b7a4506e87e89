import type { CliContext, ExitCode } from "./context.ts";

/**
 * Local sandboxes of an ordinary user are made by root of a user namespace of theirs, which a running
 * Node process cannot enter: the command line runs once more inside, and this process waits for it.
 * Null when this process is where it should be, or there is no way in: opening the backend then says
 * which step is missing.
 */
export async function runInOwnNamespace(context: CliContext): Promise<ExitCode | null> {
  if (context.restart === undefined) return null;
  if (process.platform !== "linux" || process.getuid?.() === 0) return null;
  const { findEntrance } = await import("../sandboxes/local/rootless/find-entrance.ts");
  const entrance = await findEntrance();
  return entrance.kind === "open" ? await context.restart(entrance.words) : null;
}
