import { readdirSync } from "node:fs";
import type { Dirent } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { join } from "node:path";
import { taskNameOf } from "../../core/plan/rollout-name.ts";
import { compareNames } from "../../core/plan/compare-names.ts";
import type { StoredAttempt } from "../../core/ports/job-store.ts";
import { decodeUtf8, readFileBytes } from "./read-file.ts";
import { matchesSeal, readSeal, RESULT_FILE, SEAL_FILE } from "./seal-folder.ts";
import { isMissing, storeError } from "./store-error.ts";

const MAX_RESULT_BYTES = 64 * 1024 * 1024;
/** Attempts read without a pause: other work, such as a status line, runs in between. */
const READ_AT_ONCE = 32;

/** Names of the attempts' folders in a job folder, in byte order. Links are none. */
export async function attemptNames(jobDir: string): Promise<string[]> {
  return (await listFolders(jobDir))
    .filter((name) => taskNameOf(name) !== null)
    .toSorted(compareNames);
}

/** Names of the real folders directly inside, in no order; none when there is no such folder. */
export async function listFolders(dir: string): Promise<string[]> {
  return (await listEntries(dir)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

export async function listEntries(dir: string): Promise<Dirent[]> {
  return listEntriesNow(dir);
}

function listEntriesNow(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw storeError(error, "list", dir);
  }
}

/** Every attempt of a job in order of its name, one in memory at a time. */
export async function* readAttempts(jobDir: string): AsyncGenerator<StoredAttempt> {
  const names = await attemptNames(jobDir);
  for (const [index, name] of names.entries()) {
    if (index % READ_AT_ONCE === 0) await setImmediate();
    yield readAttempt(jobDir, name);
  }
}

function readAttempt(jobDir: string, rolloutName: string): StoredAttempt {
  const path = join(jobDir, rolloutName);
  const entries = listEntriesNow(path);
  const isSealed = entries.some((entry) => entry.name === SEAL_FILE);
  const attempt = {
    rolloutName,
    path,
    hasEvidence: entries.some((entry) => entry.name === "evidence" && entry.isDirectory()),
  };
  const found = readFileBytes(join(path, RESULT_FILE), MAX_RESULT_BYTES);
  if (found.kind === "refused") {
    return { ...attempt, result: null, seal: "broken", problem: found.reason };
  }
  if (found.kind === "missing") {
    return isSealed
      ? { ...attempt, result: null, seal: "broken", problem: "is gone, and seal.json lists it" }
      : { ...attempt, result: null, seal: "absent", problem: null };
  }
  const sealed = isSealed ? sealStateOf(path, found.bytes) : { seal: "absent" as const };
  const result = decodeUtf8(found.bytes);
  return { ...attempt, result, ...sealed, problem: result === null ? "is not UTF-8" : null };
}

function sealStateOf(path: string, result: Uint8Array): Pick<StoredAttempt, "seal" | "recovered"> {
  const found = readSeal(path);
  if (found.kind !== "sealed") return { seal: found.kind };
  const { recovered } = found.seal;
  return { seal: matchesSeal(found.seal, RESULT_FILE, result) ? "intact" : "broken", recovered };
}
