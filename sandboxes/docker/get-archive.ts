import type { IncomingMessage } from "node:http";
import { type ByteStream, SandboxError } from "../../core/ports/sandbox.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import type { Freezer } from "./freezer.ts";
import { type Ask, pathParts, pathsAlong, walkPath } from "./walk-path.ts";

export interface ArchiveSource {
  readonly client: EngineClient;
  readonly containerId: string;
  readonly ask: Ask;
  readonly freezer: Freezer;
  /** Ends the reading, whoever waits for more. */
  readonly signal: AbortSignal;
  /** Whether processes run that could change files meanwhile. */
  readonly isBusy: () => Promise<boolean>;
}

/** Streams a path as the daemon packs it. Processes stand still meanwhile, when there are any. */
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

function utf8(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}
