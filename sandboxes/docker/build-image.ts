import * as z from "zod";
import { type SandboxLimits, SandboxError } from "../../core/ports/sandbox.ts";
import { readIgnoreFile } from "../builds/read-ignore-file.ts";
import type { BuildRecipe } from "./build-recipe.ts";
import type { EngineClient } from "./engine-client.ts";
import { BuildProgress } from "./build-progress.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import { type EngineEvent, readEvents } from "./event-lines.ts";
import { type ExtraFile, packContext } from "./pack-context.ts";

export interface BuildOptions {
  readonly contextDir: string;
  readonly leaveOut?: readonly string[];
  readonly recipe: BuildRecipe;
  readonly tag: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: SandboxLimits;
  /** What RUN steps can reach: the daemon's name for a network, or `container:ID`. */
  readonly network: string;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

const BuiltImage = z.looseObject({ ID: z.string() });

/** Name of a Dockerfile of our making in the archive; nothing of a task is called so. */
const OWN_DOCKERFILE = ".benchflow.dockerfile";

/**
 * Builds by the daemon's own builder and resolves to the image's id. Throws `build-failed` or
 * `build-lost` with the daemon's words, `disk-full`, or the signal's reason; an aborted build is ended by the daemon.
 */
export async function buildImage(client: EngineClient, options: BuildOptions): Promise<string> {
  const { recipe, contextDir, limits, leaveOut = [] } = options;
  const replaced = recipe.isUnchanged ? [] : dockerfileInPlace(contextDir, recipe.text);
  const memoryBytes = Math.round(limits.memoryMb * 1024 * 1024);
  try {
    const response = await client.call("POST", "/build", {
      query: {
        t: options.tag,
        labels: JSON.stringify(options.labels),
        dockerfile: recipe.isUnchanged ? "Dockerfile" : OWN_DOCKERFILE,
        networkmode: options.network,
        memory: memoryBytes,
        memswap: memoryBytes,
        cpuperiod: 100_000,
        cpuquota: Math.round(limits.cpus * 100_000),
        rm: true,
        forcerm: true,
      },
      body: packContext(contextDir, { replaced, leaveOut }),
      signal: options.signal,
      timeoutMs: null,
    });
    return await imageOf(readEvents(response), options.onLine);
  } catch (error) {
    options.signal.throwIfAborted();
    // 400 is the daemon's word for a Dockerfile that it does not take; else it failed itself.
    const failure = hasStatus(error, 400) ? "build-failed" : "build-lost";
    throw asSandboxError(error, failure, "docker build");
  }
}

/**
 * A changed Dockerfile travels under another name. The daemon takes it out of the context again when
 * `.dockerignore` names it, so that `COPY . .` gives the same image as it does by docker's client.
 */
function dockerfileInPlace(contextDir: string, text: string): ExtraFile[] {
  const rules = readIgnoreFile(contextDir)?.text.trimEnd() ?? ".dockerignore";
  return [
    { name: OWN_DOCKERFILE, content: text },
    { name: ".dockerignore", content: `${rules}\n${OWN_DOCKERFILE}\n` },
  ];
}

async function imageOf(
  events: AsyncIterable<EngineEvent>,
  onLine: (line: string) => void,
): Promise<string> {
  let id: string | null = null;
  const progress = new BuildProgress();
  for await (const event of events) {
    for (const line of (event.stream ?? "").split("\n")) {
      if (line.trim() === "") continue;
      onLine(line);
      progress.take(line);
    }
    const aux = BuiltImage.safeParse(event.aux);
    if (aux.success) id = aux.data.ID;
    if (event.error !== undefined) throw progress.failureOf(event);
  }
  if (id !== null) return id;
  throw new SandboxError("build-lost", "docker build ended without an image");
}
