import { lstat, mkdir, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isMissing, storeError } from "./store-error.ts";
import { codeOf } from "../../host/error-code.ts";

/**
 * Makes the path and what is missing above it, and resolves to the folders made, the outermost first.
 * Links on the way are the user's own and are followed. Throws the operating system's error. (Node's
 * recursive `mkdir` never ends below /proc.)
 */
export async function makePath(path: string): Promise<string[]> {
  if (await isFolder(path)) return [];
  const made = await makePath(dirname(path));
  try {
    await mkdir(path);
    return [...made, path];
  } catch (error) {
    if (codeOf(error) === "EEXIST" && (await isFolder(path))) return made;
    await removeUnused(made);
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (isMissing(error) && path !== dirname(path)) return false;
    throw error;
  }
  throw new Error("not a folder");
}

/**
 * Makes the folders below `root` one by one. Each must be a folder already or not be there: a link
 * that someone planted is an error, not a way out.
 */
export async function makeFolders(root: string, segments: readonly string[]): Promise<string> {
  let path = root;
  for (const segment of segments) {
    path = join(path, segment);
    await makeFolder(path);
  }
  return path;
}

/** Resolves to whether the folder was made now. */
export async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw storeError(error, "make", path);
  }
  await checkFolder(path);
  return false;
}

/** Throws unless a real folder, not a link to one, is there. */
export async function checkFolder(path: string): Promise<void> {
  try {
    if ((await lstat(path)).isDirectory()) return;
  } catch (error) {
    throw storeError(error, "use", path);
  }
  throw storeError(new Error("not a folder"), "use", path);
}

/** Removes the folders, the innermost first, as far as they are empty. */
export async function removeUnused(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) await removeIfEmpty(folder);
}

/** What someone else has put there in the meantime keeps the folder. */
async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && !isMissing(error)) throw error;
  }
}
