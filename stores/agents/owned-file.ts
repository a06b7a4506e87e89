import { randomBytes } from "node:crypto";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { identifyProcess, processState } from "../../host/process-identity.ts";
import { codeOf } from "../../host/error-code.ts";

/** How old a mark may be whose process nobody can see, for example another machine's. */
const UNKNOWN_LIMIT_MS = 3_600_000;

/** Makes a file that names this process as its owner; false when there is one already. */
export async function claimFile(path: string): Promise<boolean> {
  try {
    await writeFile(path, identifyProcess(), { flag: "wx" });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Whether whoever made the file still runs; a file that is gone has no owner. */
export async function isOwned(path: string): Promise<boolean> {
  try {
    const identity = await readFile(path, "utf8");
    const { mtimeMs } = await stat(path);
    const state = processState(identity);
    if (state !== "unknown") return state === "alive";
    return Date.now() - mtimeMs < UNKNOWN_LIMIT_MS;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** A name that no other call of this or any other process gives. */
export function uniqueName(): string {
  return randomBytes(8).toString("hex");
}
