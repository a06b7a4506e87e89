import { rm } from "node:fs/promises";
import { join } from "node:path";
import { decodeUtf8, readFileBytes } from "./read-file.ts";
import { attemptNames, listEntries } from "./read-attempts.ts";
import { RESULT_FILE, SEAL_FILE, sealOf, sealText } from "./seal-folder.ts";
import { storeError } from "./store-error.ts";
import { isLeftBehind, isTemporaryName } from "./temporary-name.ts";
import { writeAtomic } from "./write-atomic.ts";

const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/**
 * Tidies a job folder after a writer that was killed: its half-written files go, and an attempt whose
 * result was written gets the seal that is missing, since everything else of it was written before.
 * Only for the owner of the lease.
 */
export async function putInOrder(jobDir: string): Promise<void> {
  await removeTemporaries(jobDir);
  for (const name of await attemptNames(jobDir)) {
    const attemptDir = join(jobDir, name);
    const entries = (await listEntries(attemptDir)).map((entry) => entry.name);
    if (!entries.includes(SEAL_FILE)) await finishAttempt(attemptDir, entries);
  }
}

async function finishAttempt(attemptDir: string, entries: readonly string[]): Promise<void> {
  await removeTemporaries(attemptDir, { below: true });
  if (!entries.includes(RESULT_FILE) || !isJsonFile(join(attemptDir, RESULT_FILE))) return;
  const seal = await sealOf(attemptDir, { known: new Map(), recovered: true });
  await writeAtomic(join(attemptDir, SEAL_FILE), sealText(seal), { syncFolder: true });
}

/** A result that cannot be read was not written by a kill: it is left as it is, for a person. */
function isJsonFile(path: string): boolean {
  const found = readFileBytes(path, MAX_RESULT_BYTES);
  if (found.kind !== "read") return false;
  try {
    JSON.parse(decodeUtf8(found.bytes) ?? "");
    return true;
  } catch {
    return false;
  }
}

/** Removes what dead writers left in a folder that several processes may write. */
export async function removeLeftBehind(dir: string): Promise<void> {
  for (const entry of await listEntries(dir)) {
    if (isLeftBehind(entry.name)) await removeAll(join(dir, entry.name));
  }
}

async function removeTemporaries(dir: string, { below = false } = {}): Promise<void> {
  for (const entry of await listEntries(dir)) {
    const path = join(dir, entry.name);
    if (isTemporaryName(entry.name)) await removeAll(path);
    else if (below && entry.isDirectory()) await removeTemporaries(path, { below });
  }
}

async function removeAll(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    throw storeError(error, "remove", path);
  }
}
