import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import * as z from "zod";
import { BenchError, messageOf } from "../core/errors.ts";
import { parseCaps, parseTrialCap } from "../core/ledger/caps.ts";
import { RunSettings } from "../core/model/settings.ts";
import type { CliContext } from "./context.ts";
import type { RunOptions } from "./run-command.ts";
import type { Draft } from "./run-flag.ts";

/** The settings of one `bench run`, from its flags and its task folder. Throws `BenchError` (`usage`). */
export function readRunSettings(
  context: CliContext,
  tasks: string | undefined,
  draft: Draft,
  options: RunOptions,
): RunSettings {
  const tasksDir = chooseTasksDir(tasks, draft, options);
  if (draft.sampleSeed !== undefined && draft.limit === undefined)
    throw new BenchError("usage", "--sample-seed needs -n, the size of the sample", {
      next: "add `-n N`",
    });
  const map = options.baseImageMap;
  const baseImageMap = map === undefined ? {} : readImageMap(resolve(context.cwd, map), map);
  const agentEnv = { ...hostVariables(context, draft), ...draft.agentEnv };
  const settings = RunSettings.parse({ ...draft, tasksDir, baseImageMap, agentEnv });
  // Refused here, before a task is read.
  parseCaps(settings);
  parseTrialCap(settings.maxCostPerTrialUsd);
  for (const path of settings.localInclude)
    refuseMissing(
      `--local-include ${path}`,
      resolve(context.cwd, path),
      "name a path that is there",
    );
  const { prices, summaryOut, skillsDir } = settings;
  if (summaryOut !== null) refuseNoFolder(context, settings, summaryOut);
  const absolute = (path: string | null): string | null =>
    path === null ? null : resolve(context.cwd, path);
  return { ...settings, prices: absolute(prices), skillsDir: absolute(skillsDir) };
}

/** `--agent-env NAME`: a value of this machine's, which must be there. */
function hostVariables(
  { env }: CliContext,
  { hostVariables: names = [] }: Draft,
): Record<string, string> {
  const entries = names.map((name): [string, string] => {
    const value = env[name];
    if (value !== undefined) return [name, value];
    throw new BenchError("usage", `--agent-env ${name}: ${name} is not set on this machine`, {
      next: `export ${name}, or give \`--agent-env ${name}=VALUE\``,
    });
  });
  return Object.fromEntries(entries);
}

function chooseTasksDir(tasks: string | undefined, draft: Draft, options: RunOptions): string {
  const { dataset, tasksDir } = options;
  if (dataset !== undefined)
    throw new BenchError(
      "usage",
      `-d ${dataset}: registry datasets are not built yet in this edition`,
      {
        next: "clone the dataset at its commit, then `bench run <folder>`",
      },
    );
  if (tasks !== undefined && tasksDir !== undefined)
    throw new BenchError("usage", `two task folders, ${tasks} and --tasks-dir ${tasksDir}`, {
      next: "name one",
    });
  const chosen = tasks ?? tasksDir;
  if (chosen === undefined)
    throw new BenchError("usage", "no task folder given", {
      next: "`bench run examples/tasks -a oracle`, or `bench run --help`",
    });
  if (isRemote(chosen)) refuseRemote(chosen, draft);
  return chosen;
}

/** A GitHub address in any form that git or a browser knows. A folder of such a name would start with `./`. */
function isRemote(tasks: string): boolean {
  return /^(?:https?:\/\/|git@|ssh:\/\/|github:|(?:www\.)?github\.com\/)/iu.test(tasks);
}

function refuseRemote(tasks: string, draft: Draft): never {
  if ((draft.trials ?? 1) > 1)
    throw new BenchError(
      "usage",
      // The mission page's own words.
      "--trials > 1 needs a task folder or --dataset; a --config file or --source-env run repeats nothing",
      { next: "`bench run --help` lists the flags" },
    );
  throw new BenchError(
    "usage",
    `${tasks}: running from an address is not built yet in this edition`,
    {
      next: "clone it, then `bench run <folder>`: a cloned folder works, and its commit is recorded",
    },
  );
}

/** A folder below the jobs folder is made by the run; no other one is made for a file. */
function refuseNoFolder(context: CliContext, { jobsDir }: RunSettings, summaryOut: string): void {
  const folder = dirname(resolve(context.cwd, summaryOut));
  const jobs = resolve(context.cwd, jobsDir);
  if (folder === jobs || folder.startsWith(`${jobs}${sep}`)) return;
  refuseMissing(`--summary-out ${summaryOut}: its folder`, folder, "make the folder first");
}

function refuseMissing(what: string, path: string, next: string): void {
  if (existsSync(path)) return;
  throw new BenchError("usage", `${what} does not exist`, { next });
}

const ImageMap = z.record(z.string().min(1), z.string().min(1));

function readImageMap(path: string, shown: string): Record<string, string> {
  try {
    return ImageMap.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new BenchError("usage", `--base-image-map ${shown}: ${firstLine(messageOf(cause))}`, {
      next: 'write a JSON object such as {"ubuntu:24.04": "my-local-image"}',
      cause,
    });
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
