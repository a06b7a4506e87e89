import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { messageOf } from "../../core/errors.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { codeOf } from "../../host/error-code.ts";
import type { BuildOptions } from "./build-image.ts";
import type { BuildRecipe } from "./build-recipe.ts";
import { isDiskFull } from "./engine-error.ts";
import { packContext } from "./pack-context.ts";

/** What docker's own client needs from the environment to reach the same daemon. */
const CLIENT_VARIABLES = [
  "PATH",
  "HOME",
  "DOCKER_HOST",
  "DOCKER_CONTEXT",
  "DOCKER_CONFIG",
  "DOCKER_TLS_VERIFY",
  "DOCKER_CERT_PATH",
];

const LAST_LINES = 20;

/**
 * Builds with docker's own client, for what only BuildKit can build. BuildKit knows no `container:`
 * network, so its RUN steps are on the daemon's default network and no wall is around them.
 */
export async function buildWithCli(
  options: BuildOptions & { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<void> {
  const { recipe, signal } = options;
  const labels = Object.entries(options.labels).flatMap(([name, value]) => [
    "--label",
    `${name}=${value}`,
  ]);
  const child = spawn(
    "docker",
    ["build", "--progress=plain", "--tag", options.tag, ...labels, "-"],
    { env: clientEnvironment(options.env), stdio: ["pipe", "pipe", "pipe"], signal },
  );
  // Listened to from the start: a client that is not there fails before the context is packed.
  const exit = exitOf(child, recipe.buildKitOnly);
  exit.catch(() => undefined);
  const lines: string[] = [];
  const take = (line: string): void => {
    options.onLine(line);
    lines.push(line);
    if (lines.length > LAST_LINES) lines.shift();
  };
  createInterface({ input: child.stdout }).on("line", take);
  createInterface({ input: child.stderr }).on("line", take);
  const replaced = recipe.isUnchanged ? [] : [{ name: "Dockerfile", content: recipe.text }];
  const context = packContext(options.contextDir, { replaced, leaveOut: options.leaveOut ?? [] });
  const unpacked: unknown[] = [];
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      yield* context;
    } catch (error) {
      unpacked.push(error);
      // To the client an archive that is cut between two files is a whole one.
      child.kill("SIGKILL");
      throw error;
    }
  }
  // A client that stops reading has failed: its exit code and words say why, not the broken pipe.
  pipeline(Readable.from(whole()), child.stdin).catch(() => undefined);
  const code = await exit.finally(() => {
    signal.throwIfAborted();
  });
  for (const error of unpacked) throw lost("its context cannot be read", error);
  if (code !== 0) throw failure(lines, recipe);
}

async function exitOf(child: ReturnType<typeof spawn>, feature: string | null): Promise<number> {
  try {
    const [code] = await once(child, "close");
    return typeof code === "number" ? code : 1;
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw lost("docker's client cannot be started", error);
    throw new SandboxError(
      "unsupported",
      `${String(feature)} needs BuildKit, and there is no docker client here to build with; install docker's client with buildx`,
      { cause: error },
    );
  }
}

function lost(what: string, cause: unknown): SandboxError {
  return new SandboxError("build-lost", `docker build: ${what}: ${messageOf(cause)}`, { cause });
}

/**
 * The client tells a failed step from a lost network by its words alone, so a Dockerfile of which a
 * step fetches may be right, and one without such a step is the failure's reason.
 */
function failure(
  lines: readonly string[],
  { buildKitOnly: feature, fetcher }: BuildRecipe,
): SandboxError {
  const text = lines.join("\n").trim();
  if (/buildx component is missing|buildx.*not a docker command/u.test(text))
    return new SandboxError(
      "unsupported",
      `${String(feature)} needs BuildKit, and docker's client here has no buildx; install it`,
    );
  if (isDiskFull(text)) return new SandboxError("disk-full", text);
  return new SandboxError(fetcher === null ? "build-failed" : "build-lost", text);
}

function clientEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const picked = CLIENT_VARIABLES.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(picked), DOCKER_BUILDKIT: "1" };
}
