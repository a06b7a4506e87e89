import { BenchError } from "../core/errors.ts";

/** A variable that the deployment sets for its programs. Throws `BenchError` (`config`) when it is not there. */
export function requiredVariable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): string {
  const value = env[name];
  if (value !== undefined && value !== "") return value;
  throw new BenchError("config", `variable ${name} is not set`, {
    next: "`bench cloud deploy` sets it for every program of ours",
  });
}
