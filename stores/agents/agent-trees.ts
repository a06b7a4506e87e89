import { chmod, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { BenchError, messageOf } from "../../core/errors.ts";
import type {
  AgentTreeStore,
  HeldTree,
  OpenTreeOptions,
  TreeRecipe,
} from "../../core/ports/agent-trees.ts";
import { codeOf } from "../../host/error-code.ts";
import { installTree } from "./install-tree.ts";
import { claimFile, isOwned, removeFile, uniqueName } from "./owned-file.ts";
import { openToReaders } from "./open-to-readers.ts";
import { treeId } from "./tree-recipe.ts";

const POLL_MS = 250;

/** Written into a tree when it is whole. */
const About = z.object({
  name: z.string(),
  platform: z.string(),
  packages: z.record(z.string(), z.string()),
  size_bytes: z.int().min(0),
});

/** An installed tree, as a listing shows it. */
export interface AgentTree {
  readonly id: string;
  readonly name: string;
  readonly platform: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
}

export interface AgentTreesOptions {
  /** The cache's folder; made when missing. */
  readonly dir: string;
  /** Where npm's settings are looked up. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The programs of agents, installed once for each lock file and platform and shared by all runs of
 * this machine. A tree is there whole or not at all: it is made aside and moved into place in one
 * step. Packages that npm has fetched stay in its own cache, so that a broken install goes on.
 */
export class AgentTrees implements AgentTreeStore {
  readonly #dir: string;
  readonly #env: AgentTreesOptions["env"];

  constructor({ dir, env }: AgentTreesOptions) {
    this.#dir = dir;
    this.#env = env;
  }

  async open(recipe: TreeRecipe, options: OpenTreeOptions): Promise<HeldTree> {
    const id = treeId(recipe);
    await this.#makeFolders();
    const use = join(this.#dir, "uses", `${id}.${uniqueName()}`);
    await claimFile(use);
    try {
      if (!(await this.#isThere(id))) await this.#install(recipe, id, options);
      return { dir: await realpath(this.#treeDir(id)), release: async () => await removeFile(use) };
    } catch (error) {
      await removeFile(use);
      throw error;
    }
  }

  /** The recipe's tree, or null while it is not installed; makes nothing. */
  async find(recipe: TreeRecipe): Promise<AgentTree | null> {
    return await this.#describe(treeId(recipe));
  }

  async list(): Promise<readonly AgentTree[]> {
    const ids = (await namesIn(join(this.#dir, "trees"))).toSorted();
    const trees = await Promise.all(ids.map(async (id) => await this.#describe(id)));
    return trees.filter((tree) => tree !== null);
  }

  async #describe(id: string): Promise<AgentTree | null> {
    const about = await this.#readAbout(id);
    if (about === null) return null;
    const { name, platform, packages, size_bytes: sizeBytes } = about;
    return { id, name, platform, packages, sizeBytes };
  }

  /** Removes the trees that `keep` does not name and no live run uses; resolves to what was removed. */
  async prune(keep: readonly TreeRecipe[]): Promise<readonly AgentTree[]> {
    const kept = new Set(keep.map((recipe) => treeId(recipe)));
    const removed: AgentTree[] = [];
    for (const tree of await this.list())
      if (!kept.has(tree.id) && (await this.#remove(tree.id))) removed.push(tree);
    await this.#sweep();
    return removed;
  }

  /** False when it is in use. A run that begins right now finds its tree in place again. */
  async #remove(id: string): Promise<boolean> {
    if ((await this.#usedIds()).has(id)) return false;
    const aside = await this.#stage();
    const removed = join(aside, "removed");
    await rename(this.#treeDir(id), removed);
    const isUsed = (await this.#usedIds()).has(id);
    if (isUsed) await this.#publish(removed, id);
    await this.#unstage(aside);
    return !isUsed;
  }

  async #install(recipe: TreeRecipe, id: string, options: OpenTreeOptions): Promise<void> {
    const lock = join(this.#dir, "locks", id);
    while (!(await claimFile(lock))) {
      if (!(await isOwned(lock))) await removeFile(lock);
      else await delay(POLL_MS, undefined, { signal: options.signal });
      if (await this.#isThere(id)) return;
    }
    try {
      if (await this.#isThere(id)) return;
      options.onInstall();
      await this.#make(recipe, id, options.signal);
    } finally {
      await removeFile(lock);
    }
  }

  async #make(recipe: TreeRecipe, id: string, signal: AbortSignal): Promise<void> {
    const aside = await this.#stage();
    try {
      const tree = join(aside, "tree");
      await mkdir(tree);
      await installTree(recipe, tree, { env: this.#env, signal });
      const sizeBytes = await openToReaders(tree);
      const { name, platform, packages } = recipe;
      const about = { name, platform, packages, size_bytes: sizeBytes };
      await writeFile(join(tree, "bench-tree.json"), `${JSON.stringify(about)}\n`, { mode: 0o644 });
      await this.#publish(tree, id);
    } finally {
      await this.#unstage(aside);
    }
  }

  /** Another process may have been first, after a lock whose owner could not be seen: its tree stands. */
  async #publish(tree: string, id: string): Promise<void> {
    try {
      await rename(tree, this.#treeDir(id));
    } catch (error) {
      if (!(await this.#isThere(id))) throw error;
    }
  }

  async #stage(): Promise<string> {
    const path = join(this.#dir, "staging", uniqueName());
    await claimFile(`${path}.owner`);
    await mkdir(path);
    return path;
  }

  async #unstage(path: string): Promise<void> {
    await rm(path, { recursive: true, force: true });
    await removeFile(`${path}.owner`);
  }

  /** What installers that were killed left half done, and marks of runs that have ended. */
  async #sweep(): Promise<void> {
    const staging = join(this.#dir, "staging");
    for (const name of await namesIn(staging)) {
      const owner = join(staging, name.endsWith(".owner") ? name : `${name}.owner`);
      if (await isOwned(owner)) continue;
      await rm(owner.slice(0, -".owner".length), { recursive: true, force: true });
      await removeFile(owner);
    }
    for (const folder of ["uses", "locks"])
      for (const name of await namesIn(join(this.#dir, folder))) {
        const path = join(this.#dir, folder, name);
        if (!(await isOwned(path))) await removeFile(path);
      }
  }

  async #usedIds(): Promise<Set<string>> {
    const used = new Set<string>();
    for (const name of await namesIn(join(this.#dir, "uses")))
      if (await isOwned(join(this.#dir, "uses", name)))
        used.add(name.slice(0, name.lastIndexOf(".")));
    return used;
  }

  async #isThere(id: string): Promise<boolean> {
    return (await this.#readAbout(id)) !== null;
  }

  async #readAbout(id: string): Promise<z.infer<typeof About> | null> {
    try {
      const text = await readFile(join(this.#treeDir(id), "bench-tree.json"), "utf8");
      return About.parse(JSON.parse(text));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      throw new BenchError("unavailable", `agent tree ${id} is damaged: ${messageOf(error)}`, {
        next: `remove ${this.#treeDir(id)}`,
        cause: error,
      });
    }
  }

  async #makeFolders(): Promise<void> {
    for (const name of ["trees", "staging", "locks", "uses"])
      await mkdir(join(this.#dir, name), { recursive: true });
    // Nobody but its owner changes what sandboxes of every user will run.
    await chmod(this.#dir, 0o755);
  }

  #treeDir(id: string): string {
    return join(this.#dir, "trees", id);
  }
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
