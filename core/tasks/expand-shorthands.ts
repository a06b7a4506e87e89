import { isRecord } from "./plain-data.ts";

/** The keys that task.md adds to a configuration, and the shorthands it has for some (spec 6.3). */
export interface ExpandedFrontmatter {
  /** Configuration keys under their native names. */
  readonly keys: Readonly<Record<string, unknown>>;
  readonly agents: unknown;
  readonly scenes: unknown;
  readonly user: unknown;
  readonly benchflow: Readonly<Record<string, unknown>>;
}

export type ExpandResult =
  | { readonly kind: "expanded"; readonly frontmatter: ExpandedFrontmatter }
  | { readonly kind: "invalid"; readonly path: readonly string[]; readonly message: string };

/**
 * The part of BenchFlow's authoring profiles that changes what runs. The rest of a profile describes
 * evidence for publication, which no run reads.
 */
const PROFILES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "code-change": {
    metadata: { category: "code-change" },
    agent: { timeout_sec: 7200, network_mode: "no-network" },
    verifier: { timeout_sec: 1200, user: "root" },
    sandbox: {
      docker_image: "ubuntu:24.04",
      network_mode: "no-network",
      cpus: 4,
      memory_mb: 8192,
      storage_mb: 10_240,
      workdir: "/repo",
    },
  },
  "harbor-compatible": {
    metadata: { category: "harbor-compatible" },
    sandbox: { cpus: 1, memory_mb: 2048 },
  },
  "reward-kit": { benchflow: { verifier: { implementation: { type: "reward-kit" } } } },
  "acceptance-live": {},
  "multi-agent": {
    agents: { roles: { architect: {}, implementer: {}, reviewer: {} } },
    scenes: [
      { name: "design", turns: [{ role: "architect" }] },
      { name: "implement", turns: [{ role: "implementer" }] },
      { name: "review", turns: [{ role: "reviewer" }] },
    ],
  },
  "leaderboard-local": {},
};

const FOLDERS = { verifier: ["verifier", "tests"], oracle: ["oracle", "solution"] } as const;

/** Replaces `name`, `image`, `profile(s)`, `verifier: path` and `oracle: path` by what they mean. */
export function expandShorthands(frontmatter: Readonly<Record<string, unknown>>): ExpandResult {
  const { name, image, profile, profiles, ...written } = frontmatter;
  const wanted = readProfileNames(profile, profiles);
  if (wanted === null)
    return invalid(["profile"], "it must be a profile's name, or a list of them");
  let base: Record<string, unknown> = {};
  for (const each of wanted) {
    const found = Object.hasOwn(PROFILES, each) ? PROFILES[each] : undefined;
    if (found === undefined) {
      return invalid(
        ["profile"],
        `the profile "${each}" is unknown, there are ${Object.keys(PROFILES).join(", ")}`,
      );
    }
    base = merge(base, found);
  }
  const own: Record<string, unknown> = { ...written };
  for (const key of ["verifier", "oracle"] as const) {
    const path = own[key];
    if (typeof path !== "string") continue;
    const folder = path.replace(/\/+$/u, "").replace(/^\.\//u, "");
    if (!FOLDERS[key].some((each) => each === folder)) {
      return invalid([key], `it can be ${FOLDERS[key].join("/ or ")}/`);
    }
    delete own[key];
  }
  let keys = merge(base, own);
  if (name !== undefined) {
    if (typeof name !== "string") return invalid(["name"], "it must be a text");
    const full = name.includes("/") ? name : `benchflow/${name}`;
    keys = merge({ task: { name: full } }, keys);
  }
  if (image !== undefined) keys = merge(keys, { sandbox: { docker_image: image } });
  const { agents = {}, scenes = [], user = null, benchflow = {}, ...config } = keys;
  if (!isRecord(benchflow)) return invalid(["benchflow"], "it must be a mapping");
  return { kind: "expanded", frontmatter: { keys: config, agents, scenes, user, benchflow } };
}

function invalid(path: readonly string[], message: string): ExpandResult {
  return { kind: "invalid", path, message };
}

function readProfileNames(profile: unknown, profiles: unknown): readonly string[] | null {
  const names = [profile ?? [], profiles ?? []].flat();
  const texts = names.filter((name): name is string => typeof name === "string");
  return texts.length === names.length ? texts : null;
}

/** Keys of `over` win; mappings in both are merged, everything else is replaced. */
function merge(
  base: Readonly<Record<string, unknown>>,
  over: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const out: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = out[key];
    out[key] = isRecord(before) && isRecord(value) ? merge(before, value) : value;
  }
  return out;
}
