import { homedir } from "node:os";
import { join } from "node:path";

/** `$BENCHFLOW_STATE_DIR`, else `benchflow-cloud` in the user's cache folder. */
export function stateDir(env: Readonly<Record<string, string | undefined>>): string {
  const own = env["BENCHFLOW_STATE_DIR"];
  if (own !== undefined && own !== "") return own;
  const cache = env["XDG_CACHE_HOME"];
  const home = env["HOME"] ?? homedir();
  return join(
    cache !== undefined && cache !== "" ? cache : join(home, ".cache"),
    "benchflow-cloud",
  );
}
