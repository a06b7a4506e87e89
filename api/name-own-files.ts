import { resolve } from "node:path";
import { isScripted } from "../core/model/scripted-name.ts";
import type { RunSettings } from "../core/model/settings.ts";

/**
 * Settings that name what a person's own files describe, agent and model, as results do: without a
 * folder of this machine. What reads them is loaded where there are some. Paths are below `cwd`. Throws `BenchError` (`usage`, `config`).
 */
export async function nameOwnFiles(settings: RunSettings, cwd: string): Promise<RunSettings> {
  const { providerFile } = settings;
  const named = await nameAgent(await nameModel(settings, cwd), cwd);
  return { ...named, providerFile: providerFile === null ? null : resolve(cwd, providerFile) };
}

async function nameModel(settings: RunSettings, cwd: string): Promise<RunSettings> {
  if (!isScripted(settings.model)) return settings;
  const { nameScript } = await import("./model-script-file.ts");
  return nameScript(settings, cwd);
}

async function nameAgent(settings: RunSettings, cwd: string): Promise<RunSettings> {
  if (settings.agentFile === null) return settings;
  const { nameOwnAgent } = await import("./own-agent-file.ts");
  return await nameOwnAgent(settings, cwd);
}
