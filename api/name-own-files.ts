import { resolve } from "node:path";
import type { RunSettings } from "../core/model/settings.ts";
import { nameScript } from "./model-script-file.ts";
import { nameOwnAgent } from "./own-agent-file.ts";

/**
 * Settings that name what a person's own files describe, agent and model, as results do: without a
 * folder of this machine. Paths are below `cwd`. Throws `BenchError` (`usage`, `config`).
 */
export async function nameOwnFiles(settings: RunSettings, cwd: string): Promise<RunSettings> {
  const { providerFile } = settings;
  const named = await nameOwnAgent(nameScript(settings, cwd), cwd);
  return { ...named, providerFile: providerFile === null ? null : resolve(cwd, providerFile) };
}
