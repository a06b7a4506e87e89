import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** `$BENCHFLOW_STATE_DIR`, else `benchflow-cloud` in the user's cache folder; absolute. */
export function stateDir(env: Readonly<Record<string, string | undefined>>): string {
  const own = env["BENCHFLOW_STATE_DIR"];
  if (own !== undefined && own !== "") return resolve(own);
  // A relative cache folder is to be ignored (XDG Base Directory Specification), an empty home too.
  const cache = env["XDG_CACHE_HOME"] ?? "";
  const home = env["HOME"] ?? "";
  const base = isAbsolute(cache) ? cache : join(isAbsolute(home) ? home : homedir(), ".cache");
  return join(base, "benchflow-cloud");
}
