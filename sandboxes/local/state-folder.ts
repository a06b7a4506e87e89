import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
} from "node:fs";
import { join } from "node:path";
import { identifyProcess, processState } from "../../host/process-identity.ts";
import { runTool } from "../run-tool.ts";

const DAY_MS = 86_400_000;

/**
 * The folder that local sandboxes live in: `bases/`, `images/`, `locks/`, `sandboxes/`, and
 * `staging/` for what is not whole yet. Nobody but root may look inside: images hold files of every
 * owner and mode that a task's build made.
 */
export class StateFolder {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
    mkdirSync(dir, { recursive: true });
    chmodSync(dir, 0o700);
    for (const name of ["bases", "images", "locks", "sandboxes", "staging"])
      mkdirSync(join(dir, name), { recursive: true });
  }

  /** A new folder that is removed by whoever comes next once this process has ended. */
  stage(): string {
    const owner = fileNameOf(identifyProcess());
    const path = mkdtempSync(join(this.dir, "staging", `${owner}.`));
    chmodSync(path, 0o755);
    return path;
  }

  /**
   * Moves a whole staged folder to its place, in one step. When another process was first, its work
   * stands and ours is left to the sweep.
   */
  publish(staged: string, target: string): void {
    try {
      renameSync(staged, target);
    } catch (error) {
      if (!existsSync(target)) throw error;
    }
  }

  /** Removes a folder that others may be reading: it is gone in one step, and then taken apart. */
  async discard(path: string): Promise<void> {
    const staged = this.stage();
    renameSync(path, join(staged, "discarded"));
    await removeTree(staged);
  }

  /** Removes what processes that have ended left half done; a day's age stands for an unknown end. */
  async sweep(): Promise<void> {
    const staging = join(this.dir, "staging");
    for (const name of readdirSync(staging)) {
      const path = join(staging, name);
      const [owner = ""] = name.split(".");
      const state = processState(identityOf(owner));
      const madeAtMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      const isOld = Date.now() - madeAtMs > DAY_MS;
      if (state === "dead" || (state === "unknown" && isOld)) await removeTree(path);
    }
  }
}

/** A process's identity as a file name, and back: neither has an underscore of its own. */
export function fileNameOf(identity: string): string {
  return identity.replaceAll("/", "_");
}

export function identityOf(fileName: string): string {
  return fileName.replaceAll("_", "/");
}

/** rm, because it follows no link and manages trees deeper than a path can be long. */
export async function removeTree(path: string): Promise<void> {
  const removed = await runTool(["rm", "-rf", "--one-file-system", "--", path]);
  if (removed.exitCode !== 0) throw new Error(`rm ${path}: ${removed.stderr.trim()}`);
}
