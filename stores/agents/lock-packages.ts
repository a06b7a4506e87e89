import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { BenchError } from "../../core/errors.ts";
import { AgentLock } from "../../core/model/agent-lock.ts";
import { INSTALL_FLAGS, type NpmOptions, reasonIn, runNpm } from "./run-npm.ts";

/** As npm writes it. */
const NpmLock = z.looseObject({
  packages: z.record(z.string(), z.looseObject({ resolved: z.string().optional() })),
});

/**
 * Asks npm for the whole tree of some packages, for every platform, and fetches and runs none of them.
 * Throws `BenchError` (`unavailable`) with npm's own reason, or `config` for a tree that is not of
 * packages alone.
 */
export async function lockPackages(
  packages: Readonly<Record<string, string>>,
  options: NpmOptions,
): Promise<AgentLock> {
  const dir = await mkdtemp(join(tmpdir(), "bench-lock-"));
  try {
    const manifest = { name: "bench-agent", private: true, dependencies: packages };
    await writeFile(join(dir, "package.json"), JSON.stringify(manifest));
    const argv = ["install", "--package-lock-only", "--lockfile-version=3", ...INSTALL_FLAGS];
    const { code, output } = await runNpm(argv, dir, options);
    options.signal.throwIfAborted();
    if (code !== 0)
      throw new BenchError(
        "unavailable",
        `npm could not lock ${Object.keys(packages).join(", ")}: ${reasonIn(output) || String(code)}`,
        { next: "check the packages' versions, the network and npm's registry" },
      );
    return lockOf(await readFile(join(dir, "package-lock.json"), "utf8"), packages);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function lockOf(text: string, locks: Readonly<Record<string, string>>): AgentLock {
  const { packages } = NpmLock.parse(JSON.parse(text));
  const entries = Object.entries(packages)
    .filter(([path]) => path !== "")
    .map(([path, entry]) => [path, withoutAddress(entry)]);
  const lock = { lockfileVersion: 3, locks, packages: Object.fromEntries(entries) };
  const parsed = AgentLock.safeParse(lock);
  if (parsed.success) return parsed.data;
  throw new BenchError("config", `the tree cannot be locked: ${z.prettifyError(parsed.error)}`, {
    next: "use packages whose whole tree comes from npm's registry",
  });
}

function withoutAddress(entry: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => name !== "resolved"));
}
