import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { TreeRecipe } from "../../core/ports/agent-trees.ts";
import { codeOf } from "../../host/error-code.ts";
import { manifestOf, npmPlatform } from "./tree-recipe.ts";

/** The contract's install limit (spec 9.1). */
const INSTALL_LIMIT_MS = 900_000;
const MAX_OUTPUT_CHARS = 8192;

/** What npm needs to reach the person's registry, and nothing else of their environment. */
const PASSED = new Set([
  "PATH",
  "HOME",
  "TMPDIR",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
]);

export interface InstallOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/**
 * Installs a recipe's packages into an empty folder with npm, from its lock where there is one, for
 * the recipe's platform and not this machine's. No script of a package is run: nothing of an agent is
 * ever executed outside a sandbox. Throws `BenchError` (`unavailable`) with npm's own reason.
 */
export async function installTree(
  recipe: TreeRecipe,
  dir: string,
  options: InstallOptions,
): Promise<void> {
  const platform = npmPlatform(recipe.platform);
  if (platform === null)
    throw new BenchError("usage", `there are no agents for ${recipe.platform} sandboxes`, {
      next: "use sandboxes of linux/amd64 or linux/arm64",
    });
  const { manifest, lock } = manifestOf(recipe);
  await writeFile(join(dir, "package.json"), manifest);
  if (lock !== null) await writeFile(join(dir, "package-lock.json"), lock);
  const argv = [
    lock === null ? "install" : "ci",
    "--ignore-scripts",
    "--omit=dev",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--loglevel=error",
    "--install-links=false",
    `--os=${platform.os}`,
    `--cpu=${platform.cpu}`,
    "--libc=glibc",
  ];
  const { code, output } = await runNpm(argv, dir, options);
  options.signal.throwIfAborted();
  if (code === 0) return;
  throw new BenchError(
    "unavailable",
    `npm could not install ${recipe.name}: ${reasonIn(output) || `it ended with ${String(code)}`}`,
    { next: `check the network and npm's registry, then \`bench agents install ${recipe.name}\`` },
  );
}

/** npm tells its reason first, and then how it is used. */
function reasonIn(output: string): string {
  const lines = output
    .split("\n")
    .map((line) => line.replace(/^npm (?:error|ERR!)\s*/u, "").trim());
  return lines
    .filter((line) => line !== "")
    .slice(0, 5)
    .join("; ")
    .slice(0, 600);
}

async function runNpm(
  argv: readonly string[],
  cwd: string,
  { env, signal }: InstallOptions,
): Promise<{ code: number | string; output: string }> {
  const limit = AbortSignal.timeout(INSTALL_LIMIT_MS);
  const child = spawn("npm", argv, {
    cwd,
    env: npmEnvironment(env),
    stdio: ["ignore", "pipe", "pipe"],
    // Its own group, so that what it started ends with it.
    detached: true,
  });
  let output = "";
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(0, MAX_OUTPUT_CHARS);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const kill = (): void => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const ending = new AbortController();
  for (const stop of [signal, limit])
    stop.addEventListener("abort", kill, { once: true, signal: ending.signal });
  if (signal.aborted) kill();
  try {
    const code = await new Promise<number | string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("close", (exitCode, word) => resolve(exitCode ?? word ?? "no exit code"));
    });
    if (limit.aborted) output = `it did not end within ${String(INSTALL_LIMIT_MS / 1000)} s`;
    return { code, output: typeof code === "string" && output === "" ? code : output };
  } finally {
    ending.abort();
  }
}

/** One that has just ended by itself is no failure. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

function npmEnvironment(env: InstallOptions["env"]): Record<string, string> {
  const passed = Object.entries(env).flatMap(([name, value]): [string, string][] => {
    const isNpms = /^npm_config_/iu.test(name);
    const isNamed = PASSED.has(name.toUpperCase());
    return value !== undefined && (isNpms || isNamed) ? [[name, value]] : [];
  });
  return Object.fromEntries(passed);
}
