// Makes the lock files of the agents' packages anew, after a version in runner/agents/*.ts has changed:
// `npx tsx scripts/lock-agents.ts [NAME...]`. Integrities only, no addresses: they are any registry's.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { KNOWN_AGENTS, nodeRecipe } from "../runner/agents/known-agents.ts";

const Lock = z.looseObject({
  packages: z.record(
    z.string(),
    z.looseObject({ optionalDependencies: z.record(z.string(), z.string()).optional() }),
  ),
});

const LOCKS = join(import.meta.dirname, "../runner/agents/locks");

/** The file of each tree, named after the module that imports it, with what it locks. */
const trees = new Map<string, Readonly<Record<string, string>>>();
for (const { definition } of KNOWN_AGENTS)
  trees.set(definition.aliases[0] ?? definition.name, definition.packages);
for (const cpu of ["amd64", "arm64"]) {
  const node = nodeRecipe(`linux/${cpu}`);
  if (node !== null) trees.set(`node-${cpu === "amd64" ? "x64" : cpu}`, node.recipe.packages);
}

const names = process.argv.slice(2);
for (const [name, packages] of trees) {
  if (names.length > 0 && !names.includes(name)) continue;
  writeFileSync(join(LOCKS, `${name}.json`), `${JSON.stringify(lock(name, packages), null, 2)}\n`);
}

function lock(name: string, packages: Readonly<Record<string, string>>): object {
  const dir = mkdtempSync(join(tmpdir(), "bench-lock-"));
  try {
    const manifest = { name: `bench-agent-${name}`, private: true, dependencies: packages };
    writeFileSync(join(dir, "package.json"), JSON.stringify(manifest));
    const argv = [
      "install",
      "--package-lock-only",
      "--ignore-scripts",
      "--omit-lockfile-registry-resolved",
      "--no-audit",
      "--no-fund",
      // A lock is for every platform, this one is made on one of them.
      "--force",
    ];
    execFileSync("npm", argv, { cwd: dir, stdio: ["ignore", "ignore", "inherit"] });
    return withoutMissing(
      Lock.parse(JSON.parse(readFileSync(join(dir, "package-lock.json"), "utf8"))),
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/**
 * Optional packages that the registry does not have would make `npm ci` refuse the whole lock, although
 * they are for other platforms.
 */
function withoutMissing(made: z.infer<typeof Lock>): object {
  const there = new Set(
    Object.keys(made.packages).map((path) => path.split("node_modules/").at(-1)),
  );
  for (const entry of Object.values(made.packages)) {
    const wanted = entry.optionalDependencies;
    if (wanted === undefined) continue;
    const kept = Object.entries(wanted).filter(([each]) => there.has(each));
    if (kept.length > 0) entry.optionalDependencies = Object.fromEntries(kept);
    else delete entry.optionalDependencies;
  }
  return made;
}
