import type { IncomingMessage } from "node:http";
import { type ByteStream, SandboxError } from "../../core/ports/sandbox.ts";
import { packInside, type RunInside } from "./archive-inside.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import type { Freezer } from "./freezer.ts";
import { type Ask, pathParts, pathsAlong, walkPath } from "./walk-path.ts";

export interface ArchiveSource {
  readonly client: EngineClient;
  readonly containerId: string;
  readonly ask: Ask;
  readonly runInside: RunInside;
  readonly freezer: Freezer;
  /** Ends the reading, whoever waits for more. */
  readonly signal: AbortSignal;
  /** Whether processes run that could change files meanwhile. */
  readonly isBusy: () => Promise<boolean>;
}

/**
 * The archive of a path: the sandbox's own tar's when it is small and nothing else runs there, else the
 * daemon's as a stream, while processes stand still.
 */
export async function* getArchive(
  source: ArchiveSource,
  path: string,
): ByteStream & AsyncGenerator<Uint8Array, void, undefined> {
  const parts = pathParts(path);
  const end = await walkPath(source.ask, pathsAlong(parts));
  const isLast = end.index >= parts.length - 1;
  if (end.kind === "missing" || (end.kind === "other" && !isLast))
    throw new SandboxError("not-found", `nothing at ${JSON.stringify(path)}`);
  if (end.kind === "link" && !isLast)
    throw new SandboxError("unsafe-path", `link on the way to ${JSON.stringify(path)}`);
  const mustFreeze = await source.isBusy();
  const small = mustFreeze ? null : await packSmall(source, parts.map(utf8));
  if (small !== null) {
    yield small;
    return;
  }
  if (mustFreeze) await source.freezer.freeze();
  let response: IncomingMessage | null = null;
  try {
    response = await source.client.call("GET", `/containers/${source.containerId}/archive`, {
      query: { path: `/${parts.map(utf8).join("/")}` },
      signal: source.signal,
      timeoutMs: null,
    });
    for await (const chunk of response) yield Buffer.from(chunk);
  } catch (error) {
    const isMissing = hasStatus(error, 404);
    throw asSandboxError(error, isMissing ? "not-found" : "lost", `cannot read ${path}`);
  } finally {
    response?.destroy();
    if (mustFreeze) await source.freezer.thaw();
  }
}

async function packSmall(
  { runInside }: ArchiveSource,
  names: readonly string[],
): Promise<Uint8Array | null> {
  const name = names.at(-1);
  if (name === undefined) return null;
  return await packInside(runInside, `/${names.slice(0, -1).join("/")}`, name);
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}
