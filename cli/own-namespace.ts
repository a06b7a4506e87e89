import type { CliContext, ExitCode } from "./context.ts";

/**
 * Does work on local sandboxes where this user can make them. Those of an ordinary user are made by root
 * of a user namespace of theirs, which a running Node process cannot enter: the command line runs once
 * more inside, and this process waits for it and does nothing itself. Where this process is where it
 * should be, or there is no way in, the work is done here: opening the backend then says which step is
 * missing.
 */
export async function inOwnNamespace(
  { restart }: CliContext,
  work: () => Promise<ExitCode>,
): Promise<ExitCode> {
  const words = restart === undefined ? null : await entranceWords();
  return restart === undefined || words === null ? await work() : await restart(words);
}

async function entranceWords(): Promise<readonly [string, ...string[]] | null> {
  if (process.platform !== "linux" || process.getuid?.() === 0) return null;
  const { findEntrance } = await import("../sandboxes/local/rootless/find-entrance.ts");
  const entrance = await findEntrance();
  return entrance.kind === "open" ? entrance.words : null;
}
