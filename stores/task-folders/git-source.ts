import { execFile } from "node:child_process";
import { access, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import type { TaskSource } from "../../core/model/task.ts";

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Where tasks in a Git checkout came from. One object serves a whole run: each repository is asked
 * once, however many of its tasks are read.
 *
 * A checkout's own configuration may name programs for git to start (fsmonitor, hooks, filters, a
 * transport for missing objects). None of them runs: they are switched off here by name.
 */
export class GitSources {
  readonly #path: string;
  readonly #repositories = new Map<string, Promise<Repository | null>>();

  /** `path` is the PATH in which git is looked for; everything else of the environment is left out. */
  constructor(path: string) {
    this.#path = path;
  }

  /** null outside of a checkout, before its first commit, without git, or when git fails. */
  async sourceOf(taskDir: string): Promise<TaskSource | null> {
    const dir = await realpath(taskDir);
    const root = await findRoot(dir);
    if (root === null) return null;
    const known = this.#repositories.get(root) ?? this.#read(root);
    this.#repositories.set(root, known);
    const repository = await known;
    if (repository === null) return null;
    const path = relative(root, dir).split(sep).join("/");
    const dirty = repository.changed.some((each) => touches(each, path));
    const { repo, resolvedSha } = repository;
    return { type: "git", repo, resolvedSha, path, dirty };
  }

  async #read(root: string): Promise<Repository | null> {
    const settings = await this.#run(root, [], ["config", "--null", "--get-regexp", SETTINGS]);
    const pairs = settings === null ? [] : readSettings(settings);
    // `-c` ends a key at its first `=`: a filter of such a name could not be switched off.
    if (pairs.some(([key]) => key.includes("="))) return null;
    const status = await this.#run(root, switchOffFilters(pairs), STATUS);
    if (status === null) return null;
    return readStatus(status, remoteOf(pairs));
  }

  async #run(root: string, settings: readonly string[], args: readonly string[]) {
    const options = [...SAFE_SETTINGS, `safe.directory=${root}`, ...settings].flatMap((setting) => {
      return ["-c", setting];
    });
    try {
      const argv = ["--no-optional-locks", "--no-pager", ...options, ...args];
      const { stdout } = await promisify(execFile)("git", argv, {
        cwd: root,
        env: { ...SAFE_ENVIRONMENT, PATH: this.#path },
        timeout: TIMEOUT_MS,
        killSignal: "SIGKILL",
        maxBuffer: MAX_OUTPUT_BYTES,
        encoding: "utf8",
      });
      return stdout;
    } catch {
      // No git, no commit, a broken or a huge repository: the source is unknown, the run goes on.
      return null;
    }
  }
}

interface Repository {
  readonly repo: string | null;
  readonly resolvedSha: string;
  /** Paths from the root that differ from the commit, folders with a `/` at the end. */
  readonly changed: readonly string[];
}

const SAFE_ENVIRONMENT = {
  LC_ALL: "C",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
};

const SAFE_SETTINGS = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.sshCommand=false",
  "core.untrackedCache=false",
  "protocol.allow=never",
  "credential.helper=",
];

const SETTINGS = String.raw`^(filter\..*\.(clean|smudge|process|required)|remote\..*\.url)$`;

const STATUS = [
  "status",
  "--porcelain=v2",
  "--branch",
  "--null",
  "--no-renames",
  "--untracked-files=all",
  "--ignored=traditional",
  "--ignore-submodules=all",
];

async function findRoot(from: string): Promise<string | null> {
  for (let dir = from; ; dir = dirname(dir)) {
    const found = await access(join(dir, ".git")).then(
      () => true,
      () => false,
    );
    if (found) return dir;
    if (dir === dirname(dir)) return null;
  }
}

type Setting = readonly [key: string, value: string];

/** `key LF value NUL` each; a key without a value has no LF. */
function readSettings(output: string): readonly Setting[] {
  return output
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const end = entry.indexOf("\n");
      return end === -1 ? [entry, ""] : [entry.slice(0, end), entry.slice(end + 1)];
    });
}

function switchOffFilters(settings: readonly Setting[]): readonly string[] {
  const keys = settings.map(([key]) => key).filter((key) => key.startsWith("filter."));
  return keys.map((key) => `${key}=${key.endsWith(".required") ? "false" : ""}`);
}

function remoteOf(settings: readonly Setting[]): string | null {
  const remotes = settings.filter(([key]) => key.startsWith("remote."));
  const origin = remotes.find(([key]) => key === "remote.origin.url") ?? remotes[0];
  return origin === undefined ? null : withoutCredentials(origin[1]);
}

/** A remote's address with no user, password or query; null for a folder of this machine. */
export function withoutCredentials(remote: string): string | null {
  const scp = /^(?:[^@/:]+@)?([A-Za-z0-9.-]+):(?!\/\/)([^\s?#]+)$/u.exec(remote);
  if (scp !== null) return `ssh://${scp[1] ?? ""}/${(scp[2] ?? "").replace(/^\/+/u, "")}`;
  if (!URL.canParse(remote)) return null;
  const url = new URL(remote);
  if (!["https:", "http:", "ssh:", "git:"].includes(url.protocol)) return null;
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function readStatus(output: string, repo: string | null): Repository | null {
  const changed: string[] = [];
  let resolvedSha: string | null = null;
  for (const entry of output.split("\0")) {
    const [mark = "", ...words] = entry.split(" ");
    if (mark === "#" && words[0] === "branch.oid") resolvedSha = words[1] ?? null;
    else if (mark === "?" || mark === "!") changed.push(words.join(" "));
    else if (mark === "1") changed.push(words.slice(7).join(" "));
    else if (mark === "u") changed.push(words.slice(9).join(" "));
  }
  if (resolvedSha === null || !/^[0-9a-f]{40,64}$/u.test(resolvedSha)) return null;
  return { repo, resolvedSha, changed };
}

/** Whether a changed path lies in the task's folder, or the folder in a changed (ignored) one. */
function touches(changed: string, taskPath: string): boolean {
  if (taskPath === "" || changed.startsWith(`${taskPath}/`)) return true;
  return changed.endsWith("/") && `${taskPath}/`.startsWith(changed);
}
