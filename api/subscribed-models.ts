import { BenchError } from "../core/errors.ts";
import type { RunSettings } from "../core/model/settings.ts";
import type { PriceTable } from "../core/ports/price-table.ts";
import { OUTPUT_LIMIT_FIELDS } from "../core/providers/provider.ts";
import { PROVIDERS } from "../core/providers/providers.ts";
import type { FoundModel } from "../core/providers/resolve-model.ts";
import { bucketRates } from "../core/usage/bucket-rates.ts";
import type { Agent } from "../runner/agents/agent.ts";
import type { LoginSession } from "../runner/model-access/login-session.ts";
import { findLogin, LOGIN_SERVICES, type LoginSearch, refuseForLogin } from "./find-login.ts";
import type { RunModels } from "./run-models.ts";

export type LoginDeps = Pick<LoginSearch, "clock" | "services"> & {
  readonly modelVariables: LoginSearch["variables"];
};

/**
 * The login that pays for a run whose key is not set: of the agent's own subscription, at the provider's
 * own address (spec 9.4). Null where there is none. Throws `BenchError` as `findLogin` does, and for
 * settings that a subscription cannot hold to.
 */
export async function loginFor(
  settings: RunSettings,
  { models }: Pick<Agent, "models">,
  { provider }: FoundModel,
  { clock, services = LOGIN_SERVICES, modelVariables: variables }: LoginDeps,
): Promise<LoginSession | null> {
  const kind = models?.login ?? null;
  if (kind === null || services[kind].provider !== provider) return null;
  const baseUrlName = PROVIDERS.find(({ prefix }) => prefix === provider)?.baseUrlName ?? null;
  if (baseUrlName !== null && (variables[baseUrlName] ?? "").trim() !== "") return null;
  const login = await findLogin({ kind, variables, clock, services });
  if (login !== null) refuseForLogin(login, settings);
  return login;
}

/** What is missing, with the login that would do beside it where there is one for the agent. */
export function orLogIn(
  { missing, provider }: FoundModel & { readonly missing: BenchError },
  { models }: Pick<Agent, "models">,
  { services = LOGIN_SERVICES }: Pick<LoginDeps, "services">,
): BenchError {
  const kind = models?.login ?? null;
  if (kind === null || services[kind].provider !== provider) return missing;
  const next = `${missing.next}, or log in with \`${services[kind].logIn}\``;
  return new BenchError(missing.kind, missing.message, { next });
}

/** A run's model as its subscription serves it. `listed` tells what the model can hold. */
export function subscribedModels(
  login: LoginSession,
  { provider, model }: FoundModel,
  listed: PriceTable,
): RunModels {
  const { service } = login;
  const { protocol, baseUrl } = service;
  const outputLimitField = OUTPUT_LIMIT_FIELDS[protocol];
  const endpoint = { protocol, baseUrl, keyHeader: "bearer", outputLimitField } as const;
  const { host, pathname } = new URL(baseUrl);
  const keyName = `the ${service.name} login`;
  return {
    resolved: { provider, model, key: "", keyName, endpoints: [endpoint], ownRoute: null },
    endpoints: [{ ...endpoint, agentProtocol: protocol }],
    route: `${host}${pathname.replace(/\/+$/u, "")} by subscription`,
    prices: withoutDollars(listed),
    login,
    script: null,
  };
}

const NOTHING = bucketRates({ input: 0, output: 0 });

/** No call of a subscription has a price of its own; what a model can hold is the same. */
function withoutDollars(listed: PriceTable): PriceTable {
  return {
    find: (query) => {
      const card = listed.find(query);
      return {
        provider: query.provider,
        model: query.model,
        source: "subscription",
        date: null,
        urls: [],
        now: { base: NOTHING, tiers: [] },
        soon: [],
        perCall: 0,
        contextTokens: card?.contextTokens ?? null,
        maxOutputTokens: card?.maxOutputTokens ?? null,
        caveats: [],
      };
    },
  };
}
