import { basename, resolve } from "node:path";
import { BenchError } from "../core/errors.ts";
import { ScriptFile, scriptOf } from "../core/model/model-script.ts";
import { SCRIPTED_PROVIDER, scriptedModelName, scriptPathOf } from "../core/model/scripted-name.ts";
import type { RunSettings } from "../core/model/settings.ts";
import type { PriceCard } from "../core/model/usage-price.ts";
import type { PriceTable } from "../core/ports/price-table.ts";
import { bucketRates } from "../core/usage/bucket-rates.ts";
import { readOwnFile, shapeIn } from "./read-own-file.ts";

/** The script that answers in the place of a run's model. */
export interface RunScript {
  /** As results call it, for example `scripted/solve.json`. */
  readonly name: string;
  readonly file: ScriptFile;
}

/**
 * Settings whose `-m scripted/PATH`, if it is one, is a path below `cwd` and a name that is no place of
 * this machine. Throws `BenchError` (`usage`) for a path whose last part is no plain name.
 */
export function nameScript(settings: RunSettings, cwd: string): RunSettings {
  const typed = scriptPathOf(settings.model);
  if (typed === null || settings.modelScript !== null) return settings;
  const name = basename(typed);
  if (!/^\w[\w.-]{0,99}$/u.test(name))
    throw new BenchError("usage", `-m ${scriptedModelName(typed)} names no file of a script`, {
      next: "`-m scripted/examples/scripted/solve.json`",
    });
  return { ...settings, model: scriptedModelName(name), modelScript: resolve(cwd, typed) };
}

/** Reads the run's script; null for a run with a model. Throws `BenchError` (`config`). */
export async function readScript({
  model,
  modelScript,
}: Pick<RunSettings, "model" | "modelScript">): Promise<RunScript | null> {
  if (model === null || modelScript === null) return null;
  const source = {
    path: modelScript,
    asked: `-m ${scriptedModelName(basename(modelScript))}`,
    next: shapeIn("docs/scripted-models.md"),
  };
  return { name: model, file: await readOwnFile(ScriptFile, source) };
}

const MAX_NAMES = 5;

/** Throws `BenchError` (`usage`) where the script says nothing to a task: its zero would be no agent's. */
export function refuseUnscripted(
  { name, file }: RunScript,
  tasks: readonly { readonly name: string }[],
): void {
  const missing = tasks.map((task) => task.name).filter((task) => scriptOf(file, task) === null);
  if (missing.length === 0) return;
  const more = missing.length > MAX_NAMES ? ` and ${String(missing.length - MAX_NAMES)} more` : "";
  const names = missing.slice(0, MAX_NAMES).join(", ");
  throw new BenchError("usage", `${name} has no turns for ${names}${more}`, {
    next: "choose tasks with -i, or add `turns`, which all other tasks get",
  });
}

/** What every reader of a scripted run's score must know. */
export function scriptWarning({ name }: RunScript): string {
  return `${name} answers in the place of a model: no score of this run is a model's`;
}

const NOTHING = bucketRates({ input: 0, output: 0 });

const FREE: PriceCard = {
  provider: SCRIPTED_PROVIDER,
  model: SCRIPTED_PROVIDER,
  source: "script",
  date: null,
  urls: [],
  now: { base: NOTHING, tiers: [] },
  soon: [],
  perCall: 0,
  contextTokens: 200_000,
  maxOutputTokens: 32_000,
  caveats: [],
};

/** Scripts cost nothing, whatever they say that they used. */
export const SCRIPT_PRICES: PriceTable = { find: () => FREE };
