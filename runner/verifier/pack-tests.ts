import { createReadStream, type Stats } from "node:fs";
import { lstat, readdir, readlink, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import type { TarHeader } from "../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../core/tar/write-tar.ts";

/** A folder of the task on this machine, and the task that its links may not leave. */
export interface TestsFolder {
  readonly dir: string;
  readonly taskDir: string;
  /** A folder of the archive that holds them; the archive itself where there is none. */
  readonly below?: string;
}

/**
 * The tests as a tar stream for `Sandbox.put`, owned by root and readable by any verifier. A link
 * that stays inside the folder travels as a link; one to elsewhere in the task travels as what it
 * names; one that leaves the task is refused, because it would carry this machine's files into a
 * sandbox. Scripts are executable, as is what was executable here (spec 6.6). Throws `BenchError`
 * of kind `config` before the first byte flows; contents are read as they are pulled.
 */
export async function packTests(tests: TestsFolder): Promise<ByteStream> {
  return writeTar(await testEntries(tests));
}

/** The entries of that archive, to be packed with others. */
export async function testEntries(tests: TestsFolder): Promise<readonly TarSource[]> {
  const sources: TarSource[] = [];
  for await (const source of new TestsPacker(tests).entries()) sources.push(source);
  return sources;
}

class TestsPacker {
  readonly #tests: TestsFolder;
  #root = "";
  #task = "";

  constructor(tests: TestsFolder) {
    this.#tests = tests;
  }

  async *entries(): AsyncGenerator<TarSource, void, undefined> {
    this.#root = await realFolder(this.#tests.dir);
    this.#task = await realFolder(this.#tests.taskDir);
    this.#checkInside(this.#root, this.#tests.dir);
    const { below } = this.#tests;
    yield* this.#folder(this.#root, below === undefined ? "" : `${below}/`, [this.#root]);
  }

  /** `open` are the real folders on the way down: a link to one of them would never end. */
  async *#folder(
    dir: string,
    prefix: string,
    open: readonly string[],
  ): AsyncGenerator<TarSource, void, undefined> {
    for (const name of (await readdir(dir)).toSorted()) {
      const path = join(dir, name);
      const stored = `${prefix}${name}`;
      const stats = await lstat(path);
      if (stats.isSymbolicLink()) yield* this.#link(path, stored, open);
      else yield* this.#plain(path, { stored, stats, open });
    }
  }

  async *#plain(
    path: string,
    { stored, stats, open }: { stored: string; stats: Stats; open: readonly string[] },
  ): AsyncGenerator<TarSource, void, undefined> {
    if (stats.isDirectory()) {
      yield { header: headerOf(stored, stats, "directory") };
      yield* this.#folder(path, `${stored}/`, [...open, path]);
    } else if (stats.isFile()) {
      yield { header: headerOf(stored, stats, "file"), content: readLazily(path) };
    } else {
      throw refused(`${path} is neither a file nor a folder`, "remove it from the task");
    }
  }

  async *#link(
    path: string,
    stored: string,
    open: readonly string[],
  ): AsyncGenerator<TarSource, void, undefined> {
    const target = await readlink(path);
    const real = await realpath(path).catch((cause: unknown) => {
      throw refused(`${path} links to ${target}, which is not there`, "remove the link", cause);
    });
    this.#checkInside(real, path);
    if (isBelow(this.#root, real) && !target.startsWith("/")) {
      const header = headerOf(stored, await lstat(path), "symlink");
      yield { header: { ...header, linkName: Buffer.from(target) } };
      return;
    }
    if (open.some((folder) => isBelow(real, folder)))
      throw refused(`${path} links to ${target}, a folder that it lies in`, "remove the link");
    yield* this.#plain(real, { stored, stats: await stat(real), open });
  }

  #checkInside(real: string, path: string): void {
    if (!isBelow(this.#task, real))
      throw refused(`${path} leads out of the task, to ${real}`, "copy the file into the task");
  }
}

async function realFolder(dir: string): Promise<string> {
  return await realpath(dir).catch((cause: unknown) => {
    throw refused(`${dir} is not there`, "put the task's folders back, then run again", cause);
  });
}

/** Opens the file only when somebody reads, so that an archive given up half-way leaves none open. */
async function* readLazily(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) yield chunk;
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`);
}

function headerOf(stored: string, stats: Stats, kind: TarHeader["kind"]): TarHeader {
  const isProgram = kind === "directory" || (stats.mode & 0o111) !== 0 || stored.endsWith(".sh");
  return {
    kind,
    name: Buffer.from(stored),
    mode: isProgram ? 0o755 : 0o644,
    uid: 0,
    gid: 0,
    sizeBytes: kind === "file" ? stats.size : 0,
    mtimeSeconds: Math.floor(stats.mtimeMs / 1000),
    linkName: new Uint8Array(),
  };
}

function refused(message: string, next: string, cause?: unknown): BenchError {
  return new BenchError("config", message, { next, cause });
}
