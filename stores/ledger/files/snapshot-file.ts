import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { LedgerItem } from "../../../core/model/ledger-update.ts";
import { isMissing } from "../../files/store-error.ts";
import { readSummed, writeLine } from "./journal-lines.ts";

/** All items of a pot at one moment: where a journal begins. */
export const Snapshot = z.object({
  schema_version: z.literal(1),
  generation: z.int().min(0),
  /** Writes before it. */
  n: z.int().min(0),
  items: z.array(z.tuple([z.string(), LedgerItem])),
});
export type Snapshot = z.infer<typeof Snapshot>;

const CHAIN = "snapshot";
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

export function snapshotPath(dir: string, generation: number): string {
  return join(dir, `snapshot-${String(generation)}`);
}

export function journalPath(dir: string, generation: number): string {
  return join(dir, `journal-${String(generation)}`);
}

/**
 * Writes a snapshot and the empty journal that goes on from it, synced. Resolves to the sum that the
 * journal's first line is chained to. Nothing points at them yet; the folder is to be synced.
 */
export function writeGeneration(dir: string, snapshot: Snapshot): string {
  const { text, chain } = writeLine(CHAIN, snapshot);
  const path = snapshotPath(dir, snapshot.generation);
  writeSynced(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  writeSynced(journalPath(dir, snapshot.generation), "");
  return chain;
}

export interface FoundSnapshot {
  readonly snapshot: Snapshot;
  readonly chain: string;
  readonly sizeBytes: number;
}

/** Null when it is not there, or not as it was written. */
export function readSnapshot(dir: string, generation: number): FoundSnapshot | null {
  const text = readText(snapshotPath(dir, generation));
  const summed = text === null ? null : readSummed(text.trimEnd(), CHAIN);
  const parsed = Snapshot.safeParse(summed?.value);
  if (text === null || summed === null || !parsed.success) return null;
  return { snapshot: parsed.data, chain: summed.chain, sizeBytes: Buffer.byteLength(text) };
}

function readText(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, READ);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  try {
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW;

function writeSynced(path: string, text: string): void {
  const file = openSync(path, NEW_FILE, 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
