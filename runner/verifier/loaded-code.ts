import { type ScriptRecord, valuesOf } from "./script-records.ts";

/** A test framework that is installed in the workspace, by hashes of its version's file and of it all. */
export interface Framework {
  readonly version: string;
  readonly content: string;
}

/**
 * What a verifier's programs load by name from folders that an agent may write, as the functions of
 * `loaded-script.ts` print it. Paths are strings of bytes (latin1).
 */
export interface LoadedCode {
  /** Files that python would import in the place of a module of its own or of pytest's. */
  readonly modules: ReadonlySet<string>;
  /** sha256 of each file that configures builds or tests, by name. */
  readonly configs: ReadonlyMap<string, string>;
  /** The first 20 kB of those that can name code to load, by name. */
  readonly settings: ReadonlyMap<string, string>;
  readonly frameworks: ReadonlyMap<string, Framework>;
  /** Hooks of the workspace's git repository. */
  readonly hooks: ReadonlySet<string>;
  /** Folders of installed python packages. */
  readonly siteFolders: ReadonlySet<string>;
  /** Path files in them that make python run code when it starts. */
  readonly pathFiles: ReadonlySet<string>;
}

/** Reads what the listing functions printed; records of other kinds are ignored. */
export function parseLoadedCode(records: readonly ScriptRecord[]): LoadedCode {
  const configs = valuesOf(records, "config").map((value) => splitOnce(value, " "));
  const settings = valuesOf(records, "settings").map((value) => splitOnce(value, "\n"));
  const frameworks = valuesOf(records, "framework").map((value): [string, Framework] => {
    const [version, rest] = splitOnce(value, " ");
    const [content, path] = splitOnce(rest, " ");
    return [path, { version, content }];
  });
  return {
    modules: new Set(valuesOf(records, "module")),
    configs: new Map(configs),
    settings: new Map(settings),
    frameworks: new Map(frameworks),
    hooks: new Set(valuesOf(records, "hook")),
    siteFolders: new Set(valuesOf(records, "site")),
    pathFiles: new Set(valuesOf(records, "code")),
  };
}

function splitOnce(value: string, mark: string): [string, string] {
  const at = value.indexOf(mark);
  return at === -1 ? [value, ""] : [value.slice(0, at), value.slice(at + 1)];
}
