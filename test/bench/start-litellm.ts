import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { memoryOf, type ProcessMemory } from "./process-memory.ts";

/** The one that BenchFlow runs (spec 9.3). */
const VERSION = "1.89.0";
const KEY = "sk-bench-litellm";
const READY_MS = 300_000;

export interface Litellm {
  readonly version: string;
  readonly origin: string;
  readonly token: string;
  readonly memory: () => ProcessMemory;
  readonly stop: () => void;
}

/**
 * LiteLLM's proxy in front of the provider at `baseUrl`, as BenchFlow starts it: one worker, one route, no
 * retries. Installed from PyPI on first use, below the user's cache. Throws when it does not get ready.
 */
export async function startLitellm(baseUrl: string): Promise<Litellm> {
  const program = install();
  const dir = mkdtempSync(join(tmpdir(), "bench-litellm-"));
  const config = join(dir, "config.yaml");
  writeFileSync(config, configOf(baseUrl));
  const port = await freePort();
  const child = spawn(
    program,
    ["--config", config, "--host", "127.0.0.1", "--port", String(port), "--num_workers", "1"],
    {
      cwd: dir,
      // Nothing of the machine's own: keys and databases would change what it does.
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: dir,
        LITELLM_LOCAL_MODEL_COST_MAP: "True",
        LITELLM_MODE: "PRODUCTION",
        LITELLM_LOG: "ERROR",
      },
      stdio: "ignore",
    },
  );
  const origin = `http://127.0.0.1:${String(port)}`;
  const stop = (): void => {
    child.kill("SIGKILL");
    rmSync(dir, { recursive: true, force: true });
  };
  for (const untilMs = performance.now() + READY_MS; !(await isReady(origin));) {
    if (child.exitCode === null && performance.now() < untilMs) {
      await delay(500);
      continue;
    }
    stop();
    throw new Error(`LiteLLM ${VERSION} is not ready: exit ${String(child.exitCode)}`);
  }
  return { version: VERSION, origin, token: KEY, memory: () => memoryOf(child.pid ?? 0), stop };
}

function install(): string {
  const venv = join(homedir(), ".cache/benchflow-cloud/bench", `litellm-${VERSION}`);
  const program = join(venv, "bin/litellm");
  if (existsSync(program)) return program;
  mkdirSync(venv, { recursive: true });
  console.error(`installing LiteLLM ${VERSION}, once for this computer`);
  execFileSync("python3", ["-m", "venv", venv], { stdio: "inherit" });
  const wanted = `litellm[proxy]==${VERSION}`;
  execFileSync(join(venv, "bin/pip"), ["install", "--quiet", wanted], { stdio: "inherit" });
  return program;
}

function configOf(baseUrl: string): string {
  return [
    "model_list:",
    "  - model_name: m",
    "    litellm_params:",
    "      model: anthropic/m",
    `      api_base: ${baseUrl}`,
    "      api_key: provider-key-1234",
    "litellm_settings:",
    "  num_retries: 0",
    "  drop_params: true",
    "  telemetry: false",
    "router_settings:",
    "  disable_cooldowns: true",
    "general_settings:",
    `  master_key: ${KEY}`,
    "",
  ].join("\n");
}

async function isReady(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/health/liveliness`)).ok;
  } catch {
    // Nobody listens yet.
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  return await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        resolve(typeof address === "object" && address !== null ? address.port : 0),
      );
    });
  });
}
