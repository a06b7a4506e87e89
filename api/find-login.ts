import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { BenchError } from "../core/errors.ts";
import { claudeLogin } from "../core/logins/claude-login.ts";
import { codexLogin } from "../core/logins/codex-login.ts";
import type { Login, LoginService } from "../core/logins/login.ts";
import type { LoginKind } from "../core/model/agent-definition.ts";
import type { RunSettings } from "../core/model/settings.ts";
import type { Clock } from "../core/ports/clock.ts";
import { LoginSession } from "../runner/model-access/login-session.ts";
import { LoginFile } from "../stores/logins/login-file.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** The subscriptions whose logins a run can use. */
export const LOGIN_SERVICES: Readonly<Record<LoginKind, LoginService>> = {
  claude: claudeLogin,
  codex: codexLogin,
};

export interface LoginSearch {
  readonly kind: LoginKind;
  readonly variables: Variables;
  readonly clock: Clock;
  readonly services?: Readonly<Record<LoginKind, LoginService>> | undefined;
}

/**
 * The login of this machine's user for an agent (spec 9.4); null where there is none. Asks nobody.
 * Throws `BenchError`: `usage` for one that has ended and cannot be renewed, `config` and `unavailable`
 * for a file that cannot be used.
 */
export async function findLogin({
  kind,
  variables,
  clock,
  services = LOGIN_SERVICES,
}: LoginSearch): Promise<LoginSession | null> {
  const service = services[kind];
  for (const name of service.tokenNames) {
    const token = (variables[name] ?? "").trim();
    if (token !== "")
      return new LoginSession(tokenLogin(name, token, service), { service, store: null, clock });
  }
  const store = new LoginFile(pathOf(service, variables), service);
  const login = await store.read();
  if (login === null) return null;
  const { expiresAt, refreshToken } = login;
  if (expiresAt !== null && expiresAt <= clock.now() && refreshToken === null)
    throw new BenchError(
      "usage",
      `the ${service.name} login ended at ${expiresAt.toISOString()} and cannot be renewed`,
      { next: `log in again with \`${service.logIn}\`, or export a key` },
    );
  return new LoginSession(login, { service, store, clock });
}

function tokenLogin(name: string, accessToken: string, { logIn }: LoginService): Login {
  if (/^[\u0021-\u007e]{1,8192}$/u.test(accessToken))
    return { accessToken, refreshToken: null, expiresAt: null, accountId: null, scopes: [] };
  throw new BenchError("usage", `${name} holds characters that no token has`, {
    next: `export ${name} again, or log in with \`${logIn}\``,
  });
}

function pathOf({ file }: LoginService, variables: Variables): string {
  const own = variables[file.folderName] ?? "";
  if (isAbsolute(own)) return join(own, file.name);
  const home = variables["HOME"] ?? "";
  return join(isAbsolute(home) ? home : homedir(), file.folder, file.name);
}

/** What a subscription cannot do: it reports no dollars, and not every one takes a limit. */
export function refuseForLogin(
  { service }: LoginSession,
  { maxCostUsd, maxCostPerTrialUsd, maxOutputTokens }: RunSettings,
): void {
  const dollars = maxCostUsd === null ? "--max-cost-per-trial" : "--max-cost-usd";
  if (maxCostUsd !== null || maxCostPerTrialUsd !== null)
    throw new BenchError("usage", `${dollars}: the ${service.name} login reports no dollars`, {
      next: "use --max-tokens, or export a key of the provider",
    });
  if (maxOutputTokens !== null && !service.takesOutputLimit)
    throw new BenchError(
      "usage",
      `--max-output-tokens is not taken beside the ${service.name} login`,
      {
        next: "leave it out, or export a key of the provider",
      },
    );
}
