import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identifyProcess, processState } from "../../../host/process-identity.ts";
import { codeOf } from "../../../host/error-code.ts";
import { type StateFolder, fileNameOf, identityOf } from "../state-folder.ts";
import type { BaseRoot } from "./base-root.ts";

/** Notes that this process makes sandboxes on the base. Throws when it has been removed meanwhile. */
export function useBase(state: StateFolder, { path }: BaseRoot): void {
  const users = join(state.dir, path, "users");
  // Never made with its parents: a folder with nothing but users in it would pass for a base.
  if (!existsSync(users)) makeFolder(users);
  writeFileSync(join(users, fileNameOf(identifyProcess())), "");
}

/** Removes the bases of machine states that are past, and that no live process uses; resolves to their names. */
export async function removeUnusedBases(state: StateFolder, current: BaseRoot): Promise<string[]> {
  const paths = readdirSync(join(state.dir, "bases")).map((name) => join("bases", name));
  const unused = paths.filter((path) => path !== current.path && !hasLiveUser(state, path));
  for (const path of unused) await state.discard(join(state.dir, path));
  return unused;
}

/** Another process may make it at the same time. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function hasLiveUser(state: StateFolder, path: string): boolean {
  const users = join(state.dir, path, "users");
  if (!existsSync(users)) return false;
  return readdirSync(users).some((name) => processState(identityOf(name)) === "alive");
}
