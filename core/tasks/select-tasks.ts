import { BenchError } from "../errors.ts";
import type { SkippedTask, Task } from "../model/task.ts";
import { compareNames } from "../plan/compare-names.ts";
import { shuffleNames } from "../plan/shuffle-names.ts";
import { fnmatch } from "./fnmatch.ts";

export interface SelectOptions {
  /** The tasks' path as the user gave it, for messages. */
  readonly tasksDir: string;
  /** `-i`: names or globs; empty keeps all. */
  readonly include: readonly string[];
  /** `-x`: names or globs. */
  readonly exclude: readonly string[];
  /** `-n`: how many, the first by name or, with a seed, drawn at random. */
  readonly limit: number | null;
  /** `--sample-seed`. */
  readonly sampleSeed: number | null;
}

export interface Selection {
  readonly tasks: Task[];
  readonly skipped: SkippedTask[];
}

/**
 * Picks tasks: first by name or glob, then by number (spec 5.1, design 12). Unreadable tasks are picked
 * by the same rules, so that the sample of a seed does not depend on them and one that was not asked
 * for fails nothing. Both lists come back in the order of names.
 *
 * Throws `BenchError` (usage) for a pattern that matches nothing and for an empty selection, (config)
 * when none of the picked tasks can be read.
 */
export function selectTasks(found: Selection, options: SelectOptions): Selection {
  const names = [...found.tasks, ...found.skipped].map((each) => each.name);
  refuseUnmatched(names, "include", options.include);
  refuseUnmatched(names, "exclude", options.exclude);
  const kept = names.filter((name) => isKept(name, options)).toSorted(compareNames);
  const picked = new Set(pick(kept, options));
  if (picked.size === 0) throw emptySelection(options);
  const inOrder = <T extends { readonly name: string }>(all: readonly T[]): T[] => {
    return all
      .filter((each) => picked.has(each.name))
      .toSorted((a, b) => compareNames(a.name, b.name));
  };
  const selection = { tasks: inOrder(found.tasks), skipped: inOrder(found.skipped) };
  if (selection.tasks.length === 0) throw nothingReadable(selection.skipped);
  return selection;
}

function isKept(name: string, { include, exclude }: SelectOptions): boolean {
  const isIncluded = include.length === 0 || include.some((pattern) => fnmatch(name, pattern));
  return isIncluded && !exclude.some((pattern) => fnmatch(name, pattern));
}

function pick(names: readonly string[], { limit, sampleSeed }: SelectOptions): readonly string[] {
  if (limit === null) return names;
  return (sampleSeed === null ? names : shuffleNames(names, sampleSeed)).slice(0, limit);
}

function refuseUnmatched(
  names: readonly string[],
  option: "include" | "exclude",
  patterns: readonly string[],
): void {
  const pattern = patterns.find((each) => !names.some((name) => fnmatch(name, each)));
  if (pattern === undefined) return;
  const flag = option === "include" ? "-i" : "-x";
  const near = names.toSorted(compareNames).slice(0, 3).join(", ");
  throw new BenchError("usage", `${flag} ${JSON.stringify(pattern)} matches no task`, {
    next: `the names are ${near}${names.length > 3 ? ", …" : ""}; \`bench tasks list\` shows all`,
  });
}

function emptySelection({ tasksDir, include, exclude }: SelectOptions): BenchError {
  const message =
    `No tasks selected after include/exclude filtering (tasks_dir=${tasksDir}, ` +
    `include=${showList(include)}, exclude=${showList(exclude)}). ` +
    "Refusing to publish an empty 0/0 summary.";
  return new BenchError("usage", message, {
    next: `\`bench tasks list ${tasksDir}\` shows the names that -i and -x can match`,
  });
}

/** As Python shows a list of texts, because the message is BenchFlow's. */
function showList(patterns: readonly string[]): string {
  return `[${patterns.map((each) => `'${each}'`).join(", ")}]`;
}

function nothingReadable([first, ...more]: readonly SkippedTask[]): BenchError {
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  const message = `task ${first?.name ?? ""} cannot be read: ${first?.reason ?? ""}${others}`;
  return new BenchError("config", message, { next: "correct the task and run the command again" });
}
