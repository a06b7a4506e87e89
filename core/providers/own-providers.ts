import { BenchError } from "../errors.ts";
import { SCRIPTED_PROVIDER } from "../model/scripted-name.ts";
import type { OwnProvider, ProviderFile } from "../model/provider-file.ts";
import type { PriceTable } from "../ports/price-table.ts";
import { isCredentialName } from "../tasks/credential-names.ts";
import { firstPriceOf, priceTableOf } from "../usage/price-file.ts";
import { OUTPUT_LIMIT_FIELDS, type Provider, type ProviderEndpoint } from "./provider.ts";
import { KEY_NAMES, PROVIDERS } from "./providers.ts";

/** Providers of a file, and what their models cost. */
export interface OwnProviders {
  readonly providers: readonly Provider[];
  readonly prices: PriceTable;
}

/**
 * What a provider file means. `name` is what results give as the source of its prices. Throws
 * `BenchError` (`config`) for a prefix that is somebody's already, and for a key that is another
 * provider's or a cloud's: a file that was cloned must not send those to its own address (attack 3).
 */
export function ownProviders({ providers }: ProviderFile, name: string): OwnProviders {
  const refuse = (what: string, next: string): BenchError =>
    new BenchError("config", `--provider-file ${name}: ${what}`, { next });
  const taken = new Set([SCRIPTED_PROVIDER, "acp", ...PROVIDERS.map(({ prefix }) => prefix)]);
  for (const { prefix, key_env: key } of providers) {
    if (taken.has(prefix))
      throw refuse(`prefix ${prefix} is taken`, "give the provider a prefix of its own");
    taken.add(prefix);
    if (key !== null && (KEY_NAMES.has(key) || isCredentialName(key)))
      throw refuse(
        `key_env ${key} is a key of another service, which this address must not get`,
        "export the provider's key under a name of its own, for example MY_GATEWAY_API_KEY",
      );
  }
  return {
    providers: providers.map(providerOf),
    prices: firstPriceOf(providers.map((provider) => pricesOf(provider, name))),
  };
}

/** Stands for the name of a key where a provider needs none. */
export const NO_KEY = "no key";

function providerOf({ prefix, key_env: key, endpoints, models }: OwnProvider): Provider {
  const [first, ...others] = endpoints.map(
    ({ protocol, base_url, key_header }): ProviderEndpoint => ({
      protocol,
      baseUrl: base_url,
      keyHeader: key_header,
      outputLimitField: OUTPUT_LIMIT_FIELDS[protocol],
    }),
  );
  if (first === undefined) throw new Error(`provider ${prefix} without an endpoint`);
  return {
    prefix,
    families: [],
    keyNames: [key ?? NO_KEY],
    keyIsOptional: key === null,
    baseUrlName: null,
    baseUrl: first.baseUrl,
    endpoints: [first, ...others],
    models: Object.keys(models),
    unbuilt: null,
  };
}

function pricesOf(
  { prefix, models, price_source: source, price_date: date }: OwnProvider,
  name: string,
): PriceTable {
  const prices = Object.fromEntries(
    Object.entries(models).flatMap(([model, entry]) =>
      entry === null ? [] : [[`${prefix}/${model}`, entry]],
    ),
  );
  if (source === null || date === null) return { find: () => null };
  return priceTableOf({ version: 1, source, date, prices }, name);
}
