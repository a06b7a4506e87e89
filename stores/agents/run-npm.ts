import { spawn } from "node:child_process";
import { codeOf } from "../../host/error-code.ts";

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

export interface NpmOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Of every install: no script of a package is run, and nothing is asked or told beside it. */
export const INSTALL_FLAGS = [
  "--ignore-scripts",
  "--omit=dev",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--loglevel=error",
] as const;

/** npm tells its reason first, and then how it is used. */
export function reasonIn(output: string): string {
  const lines = output
    .split("\n")
    .map((line) => line.replace(/^npm (?:error|ERR!)\s*/u, "").trim());
  return lines
    .filter((line) => line !== "")
    .slice(0, 5)
    .join("; ")
    .slice(0, 600);
}

/**
 * Runs npm to its end within the contract's limit, with nothing of the person's environment but what it
 * needs to reach its registry. Resolves to its exit code, or a word for why there is none.
 */
export async function runNpm(
  argv: readonly string[],
  cwd: string,
  { env, signal }: NpmOptions,
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

function npmEnvironment(env: NpmOptions["env"]): Record<string, string> {
  const passed = Object.entries(env).flatMap(([name, value]): [string, string][] => {
    const isNpms = /^npm_config_/iu.test(name);
    const isNamed = PASSED.has(name.toUpperCase());
    return value !== undefined && (isNpms || isNamed) ? [[name, value]] : [];
  });
  return Object.fromEntries(passed);
}
