/** What a tree of npm packages is made of. Equal recipes make equal trees. */
export interface TreeRecipe {
  /** For people: the agent's name, or `node`. */
  readonly name: string;
  /** OCI platform of the sandboxes that will run it, for example `linux/amd64`. */
  readonly platform: string;
  /** Packages with exact versions. */
  readonly packages: Readonly<Record<string, string>>;
  /** package-lock.json as data; null where nobody made one, and npm's own choice stands. */
  readonly lock: unknown;
}

export interface OpenTreeOptions {
  readonly signal: AbortSignal;
  /** Told before the first byte is fetched, and not for a tree that is there. */
  readonly onInstall: () => void;
}

/** A tree in use: it cannot be pruned until it is let go, or this process has ended. */
export interface HeldTree {
  /** Absolute, without links. */
  readonly dir: string;
  release(): Promise<void>;
}

/** Programs of agents, installed once on this machine and shared by all runs. */
export interface AgentTreeStore {
  /** The recipe's tree, installed first where it is missing. Throws `BenchError` (`unavailable`). */
  open(recipe: TreeRecipe, options: OpenTreeOptions): Promise<HeldTree>;
}
