import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { isMissing } from "../../files/store-error.ts";
import { readSummed, writeLine } from "./journal-lines.ts";

/** How far the journal is acknowledged: nobody was told of what lies behind. */
export const Head = z.object({
  /** Which snapshot and journal are the present ones. */
  generation: z.int().min(0),
  /** Writes of the pot's whole life. */
  n: z.int().min(0),
  /** Length of the journal. */
  bytes: z.int().min(0),
  /** Sum of its last line. */
  chain: z.string(),
});
export type Head = z.infer<typeof Head>;

const NAME = "head";
const CHAIN = "head";
/** Within one sector, and always as long, so that it is replaced whole. */
const SIZE_BYTES = 256;

/**
 * The file `head`, overwritten in place after each write of the journal. It is not synced then: after
 * a loss of power it may lag behind, and never runs ahead, since the journal is synced before.
 */
export class HeadFile {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  /** Throws ENOENT where there is none. */
  static open(dir: string): HeadFile {
    return new HeadFile(openSync(join(dir, NAME), constants.O_RDWR | constants.O_NOFOLLOW));
  }

  /** Without a write, for one who only looks; `torn` while a writer is at it, or when it is damaged. */
  static readIn(
    dir: string,
  ): { readonly kind: "read"; readonly head: Head } | { readonly kind: "missing" | "torn" } {
    let file: HeadFile;
    try {
      file = new HeadFile(openSync(join(dir, NAME), constants.O_RDONLY | constants.O_NOFOLLOW));
    } catch (error) {
      if (isMissing(error)) return { kind: "missing" };
      throw error;
    }
    try {
      const head = file.read();
      return head === null ? { kind: "torn" } : { kind: "read", head };
    } finally {
      file.close();
    }
  }

  /** Puts the first one there, whole or not at all; the folder is to be synced afterwards. */
  static create(dir: string, head: Head): void {
    const path = join(dir, `${NAME}.new`);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
    const created = new HeadFile(openSync(path, flags, 0o600));
    try {
      created.write(head);
      created.sync();
    } finally {
      created.close();
    }
    renameSync(path, join(dir, NAME));
  }

  get isRemoved(): boolean {
    return fstatSync(this.#file).nlink === 0;
  }

  /** Null when it is not as it was written. */
  read(): Head | null {
    const buffer = Buffer.alloc(SIZE_BYTES);
    const size = readSync(this.#file, buffer, 0, SIZE_BYTES, 0);
    const line = buffer.toString("utf8", 0, size).trimEnd();
    const summed = readSummed(line, CHAIN);
    const head = Head.safeParse(summed?.value);
    return head.success ? head.data : null;
  }

  write(head: Head): void {
    const { text } = writeLine(CHAIN, head);
    const padded = Buffer.from(`${text.trimEnd().padEnd(SIZE_BYTES - 1)}\n`);
    writeSync(this.#file, padded, 0, padded.length, 0);
  }

  sync(): void {
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}
