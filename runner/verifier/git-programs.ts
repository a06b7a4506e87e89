import type { LoadedCode } from "./loaded-code.ts";

/** Keys of a repository's config whose value git runs, or reads more config from. */
const PROGRAM_KEYS: Readonly<Record<string, readonly string[]>> = {
  core: ["hookspath", "fsmonitor", "pager", "editor", "sshcommand", "askpass", "gitproxy"],
  diff: ["external", "command", "textconv"],
  filter: ["clean", "smudge", "process"],
  merge: ["driver"],
  alias: [],
  gpg: ["program"],
  credential: ["helper"],
  include: ["path"],
  includeif: ["path"],
};

const SECTION =
  /^\s*\[\s*(?<section>[A-Za-z][\w.-]*)(?:\s+"(?<name>(?:[^"\\]|\\.)*)")?\s*\](?<rest>.*)$/u;
const SETTING = /^\s*(?<key>[A-Za-z][A-Za-z0-9-]*)\s*=\s*(?<value>\S.*)$/u;

/**
 * Programs that git runs by itself in the workspace's repository: its hooks, and settings that name a
 * program, as `section.name.key = value` (git-config(1)). Only the first 20 kB of the config are seen.
 */
export function gitPrograms(loaded: LoadedCode): ReadonlySet<string> {
  const programs = new Set([...loaded.hooks].map((hook) => `hook ${hook}`));
  let prefix = "";
  for (const line of (loaded.settings.get(".git/config") ?? "").split("\n")) {
    const header = SECTION.exec(line)?.groups;
    if (header !== undefined) {
      const { section = "", name } = header;
      prefix = [section.toLowerCase(), ...(name === undefined ? [] : [name])].join(".");
    }
    // A setting may stand on the line of its section.
    const setting = SETTING.exec(header?.["rest"] ?? line)?.groups;
    if (setting === undefined) continue;
    const { key = "", value = "" } = setting;
    if (runsProgram(prefix.split(".", 1)[0] ?? "", key.toLowerCase(), value))
      programs.add(`${prefix}.${key.toLowerCase()} = ${value.trim().slice(0, 100)}`);
  }
  return programs;
}

function runsProgram(section: string, key: string, value: string): boolean {
  if (section === "alias") return value.startsWith("!") || value.startsWith('"!');
  if (key === "fsmonitor" && /^(?:true|false)\s*$/u.test(value)) return false;
  return PROGRAM_KEYS[section]?.includes(key) ?? false;
}
