import { BenchError } from "../core/errors.ts";
import { NO_KEY } from "../core/providers/own-providers.ts";
import type { RunModels } from "./run-models.ts";

/** What a person is told whose key, or login, the provider does not take at all. */
export function refusedKey({
  resolved: { keyName },
  endpoints,
  login,
}: Pick<RunModels, "resolved" | "endpoints" | "login">): BenchError {
  const hosts = [...new Set(endpoints.map(({ baseUrl }) => new URL(baseUrl).host))].join(", ");
  const refused = (what: string, next: string): BenchError =>
    new BenchError(
      "config",
      `${hosts} refused ${what} (HTTP 401) before any request succeeded: the run is stopped`,
      { next: `${next}, then run the same command again` },
    );
  if (login !== null) return refused(keyName, `log in again with \`${login.service.logIn}\``);
  if (keyName === NO_KEY)
    return refused(
      "a request without a key",
      "name the variable of its key as key_env in its file",
    );
  return refused(`the key in ${keyName}`, `export ${keyName} with a key that ${hosts} accepts`);
}
