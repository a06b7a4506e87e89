import { type Stats, lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { messageOf } from "../../../core/errors.ts";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import {
  type IgnoreRules,
  isIgnored,
  readIgnorePatterns,
} from "../../../core/tasks/dockerfile/dockerignore.ts";
import { readIgnoreFile } from "../../builds/read-ignore-file.ts";

/** A file, folder or link of a build context. */
export interface ContextEntry {
  /** Relative, `/` between parts, as bytes. */
  readonly name: Buffer;
  readonly kind: "file" | "directory" | "symlink";
  readonly path: Buffer;
  readonly stats: Stats;
}

const MAX_ENTRIES = 200_000;

/** The files of a build context, less what `.dockerignore` or the caller leaves out. No link is followed. */
export class BuildContext {
  readonly #dir: string;
  readonly #entries: readonly ContextEntry[];

  constructor(dir: string, leaveOut: readonly string[] = []) {
    this.#dir = realpathSync(dir);
    const rules = readIgnoreFile(this.#dir)?.rules ?? { patterns: [] };
    this.#entries = listFolder(this.#dir).filter((entry) => {
      const name = entry.name.toString("utf8");
      return !leaveOut.includes(name.split("/", 1)[0] ?? "") && !isIgnored(rules, name);
    });
  }

  /**
   * The entries that a `COPY` or `ADD` source names: one, or several where it has wildcards. A link
   * is replaced by what it leads to inside the context. Throws `build-failed` when there is none.
   */
  find(source: string, line: number): ContextEntry[] {
    const path = source.split("/").filter((part) => part !== "" && part !== ".");
    if (path.includes(".."))
      throw new SandboxError(
        "build-failed",
        `Dockerfile:${String(line)}: ${source} leaves the build context`,
      );
    if (path.length === 0) return [this.#root()];
    const wanted = path.join("/");
    const exact = this.#entries.filter(({ name }) => name.toString("utf8") === wanted);
    const found = exact.length > 0 ? exact : this.#match(wanted, line);
    if (found.length === 0)
      throw new SandboxError(
        "build-failed",
        `Dockerfile:${String(line)}: ${source} is not in the build context`,
      );
    return found.map((entry) => this.#followed(entry, line));
  }

  /** What lies below a folder, the folder itself left out; names relative to it. */
  below(folder: ContextEntry): ContextEntry[] {
    if (folder.name.byteLength === 0) return [...this.#entries];
    const prefix = Buffer.concat([folder.name, Buffer.from("/")]);
    const inside = this.#entries.filter(({ name }) =>
      name.subarray(0, prefix.byteLength).equals(prefix),
    );
    return inside.map(({ name, kind, path, stats }) => {
      return { name: name.subarray(prefix.byteLength), kind, path, stats };
    });
  }

  #root(): ContextEntry {
    const path = Buffer.from(this.#dir);
    return { name: Buffer.alloc(0), kind: "directory", path, stats: lstatSync(path) };
  }

  /** The wildcards of COPY are those of .dockerignore; an entry counts where its folder does not. */
  #match(pattern: string, line: number): ContextEntry[] {
    if (!/[*?[\\]/u.test(pattern)) return [];
    const rules = readPattern(pattern, line);
    return this.#entries.filter(({ name }) => {
      const text = name.toString("utf8");
      const slash = text.lastIndexOf("/");
      return isIgnored(rules, text) && (slash === -1 || !isIgnored(rules, text.slice(0, slash)));
    });
  }

  #followed(entry: ContextEntry, line: number): ContextEntry {
    if (entry.kind !== "symlink") return entry;
    const target = readlinkSync(entry.path);
    const resolved = resolveOrNull(entry.path);
    const relative =
      resolved?.startsWith(`${this.#dir}/`) === true ? resolved.slice(this.#dir.length + 1) : null;
    const found = this.#entries.find(({ name }) => name.toString("utf8") === relative);
    if (found === undefined)
      throw new SandboxError(
        "build-failed",
        `Dockerfile:${String(line)}: ${entry.name.toString("utf8")} is a link to ${target}, which is not in the build context`,
      );
    return found;
  }
}

function readPattern(pattern: string, line: number): IgnoreRules {
  try {
    return readIgnorePatterns([pattern]);
  } catch (error) {
    throw new SandboxError("build-failed", `Dockerfile:${String(line)}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Sockets, pipes and devices have no place in an image, and are passed over as Docker does. */
function listFolder(dir: string): ContextEntry[] {
  const entries: ContextEntry[] = [];
  const visit = (folder: Buffer, prefix: Buffer): void => {
    const names = readdirSync(folder, { encoding: "buffer" }).toSorted((a, b) =>
      Buffer.compare(a, b),
    );
    for (const raw of names) {
      const path = Buffer.concat([folder, Buffer.from("/"), raw]);
      const name = Buffer.concat([prefix, raw]);
      const stats = lstatSync(path);
      const kind = kindOf(stats);
      if (kind === null) continue;
      entries.push({ name, kind, path, stats });
      if (entries.length > MAX_ENTRIES)
        throw new SandboxError(
          "build-failed",
          `more than ${String(MAX_ENTRIES)} files in the build context`,
        );
      if (kind === "directory") visit(path, Buffer.concat([name, Buffer.from("/")]));
    }
  };
  visit(Buffer.from(dir), Buffer.alloc(0));
  return entries;
}

function kindOf(stats: Stats): ContextEntry["kind"] | null {
  if (stats.isDirectory()) return "directory";
  if (stats.isSymbolicLink()) return "symlink";
  return stats.isFile() ? "file" : null;
}

function resolveOrNull(path: Buffer): string | null {
  try {
    return realpathSync(path);
  } catch {
    // A link to nothing, or a circle of links.
    return null;
  }
}
