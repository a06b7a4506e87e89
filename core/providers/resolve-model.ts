import { BenchError } from "../errors.ts";
import type { ModelProtocol } from "../model/exchange.ts";
import type { KeyHeader, Provider, ProviderEndpoint } from "./provider.ts";
import { PROVIDERS, variableStem } from "./providers.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** One dialect of a resolved model, with its whole address. */
export interface ResolvedEndpoint {
  readonly protocol: ModelProtocol;
  readonly baseUrl: string;
  readonly keyHeader: KeyHeader;
  readonly outputLimitField: string;
}

/** A run's model, ready to be asked. Holds the provider's key: never to be written anywhere. */
export interface ResolvedModel {
  readonly provider: string;
  /** The provider's own name for it. */
  readonly model: string;
  readonly key: string;
  /** The variable that the key came from. */
  readonly keyName: string;
  /** The dialects that can be served, the provider's best first. */
  readonly endpoints: readonly [ResolvedEndpoint, ...ResolvedEndpoint[]];
  /** Base URLs that are not the provider's own, without user, port or query; null for its own. */
  readonly ownRoute: string | null;
}

/** In place of a second base URL: what stands behind the first one has no such endpoint. */
const NO_ENDPOINT = "none";

/** Names that only one agent knows; no provider takes them. */
const AGENT_NAMES = new Set(["sonnet", "opus", "haiku", "opusplan", "best", "default"]);

/** Who serves a model, and what of the variables is missing to ask it there. */
export interface FoundModel {
  readonly provider: string;
  /** The provider's own name for it. */
  readonly model: string;
  /** Names every variable that is not set, its key and its base URL; null when there is none. */
  readonly missing: BenchError | null;
}

/**
 * Finds who serves a model (spec 9.2): the longest prefix, else the family of a bare name. `own` are
 * providers of the person's own. Throws `BenchError` (`usage`) for a model that nobody serves.
 */
export function findModel(
  name: string,
  variables: Variables,
  own: readonly Provider[] = [],
): FoundModel {
  const { provider, model } = findBuilt(name, own);
  return { provider: provider.prefix, model, missing: missingOf(name, provider, variables) };
}

/**
 * The same, with its address and its key. Throws `BenchError` (`usage`) for a model that nobody serves,
 * a missing key or base URL, and what is no key or URL; the key's value is in no message.
 */
export function resolveModel(
  name: string,
  variables: Variables,
  own: readonly Provider[] = [],
): ResolvedModel {
  const { provider, model } = findBuilt(name, own);
  const missing = missingOf(name, provider, variables);
  if (missing !== null) throw missing;
  const { key, keyName } = findKey(provider, variables);
  const set = valueOf(variables, provider.baseUrlName);
  // Without one there would be something missing.
  const base = set ?? provider.baseUrl ?? "";
  const baseName = set === null ? `provider ${provider.prefix}` : (provider.baseUrlName ?? "");
  const origin = parseBase(baseName, base);
  const [first, ...others] = provider.endpoints;
  const messages = `${variableStem(provider.prefix)}_ANTHROPIC_BASE_URL`;
  const hasMessages = valueOf(variables, messages) !== NO_ENDPOINT;
  const apart = new Set<string>();
  const at = (endpoint: ProviderEndpoint): ResolvedEndpoint => {
    const isMessages = endpoint.protocol === "anthropic-messages" && provider.models === null;
    const replaced = isMessages && endpoint !== first ? valueOf(variables, messages) : null;
    if (replaced !== null) parseBase(messages, replaced);
    const { protocol, keyHeader, outputLimitField } = endpoint;
    const usual = placed(endpoint.baseUrl, base, origin);
    if (replaced !== null && replaced !== usual) apart.add(routeOf(new URL(replaced)));
    return { protocol, keyHeader, outputLimitField, baseUrl: replaced ?? usual };
  };
  const endpoints: ResolvedModel["endpoints"] = [
    at(first),
    ...others
      .filter(({ protocol }) => hasMessages || protocol !== "anthropic-messages")
      .map((endpoint) => at(endpoint)),
  ];
  if (isOwnRoute(provider, set)) apart.add(routesOf(origin, provider));
  return {
    provider: provider.prefix,
    model,
    key,
    keyName,
    endpoints,
    ownRoute: apart.size === 0 ? null : [...apart].join(", "),
  };
}

function placed(path: string | null, base: string, origin: URL): string {
  if (path !== null && !path.startsWith("/")) return path;
  return path === null ? base : origin.origin + (path === "/" ? "" : path);
}

function isOwnRoute({ models, baseUrl }: Provider, set: string | null): boolean {
  return models !== null || (set !== null && set !== baseUrl);
}

/** Of a provider of the person's own all addresses: each is somebody's. */
function routesOf(origin: URL, { models, endpoints }: Provider): string {
  if (models === null) return routeOf(origin);
  const routes = endpoints.map(({ baseUrl }) => routeOf(new URL(baseUrl ?? origin)));
  return [...new Set(routes)].join(", ");
}

/** A misspelt model of a provider that lists them is told before its server is asked. */
function refuseUnlisted(name: string, { provider, model }: ReturnType<typeof findProvider>): void {
  const { models, prefix } = provider;
  if (models === null || models.length === 0 || models.includes(model)) return;
  const [first = ""] = models;
  throw new BenchError(
    "usage",
    `model ${name}: provider ${prefix} of --provider-file lists no such model`,
    {
      next: `name one that it lists, for example \`-m ${prefix}/${first}\``,
    },
  );
}

/** Ports change with a machine, hosts and paths are whose model it is. */
function routeOf({ hostname, pathname }: URL): string {
  return hostname + pathname.replace(/\/+$/u, "");
}

function findBuilt(name: string, own: readonly Provider[]): ReturnType<typeof findProvider> {
  const found = findProvider(name, [...own, ...PROVIDERS]);
  refuseUnlisted(name, found);
  if (found.provider.unbuilt === null) return found;
  throw new BenchError(
    "usage",
    `model ${name}: provider ${found.provider.prefix} is not built yet in this edition`,
    { next: "use the same model through another provider, for example `-m openrouter/…`" },
  );
}

/** All at once: whoever is told of one after the other starts a run three times. */
function missingOf(name: string, provider: Provider, variables: Variables): BenchError | null {
  const { keyNames, keyIsOptional, baseUrl, baseUrlName } = provider;
  const isSet = (each: string): boolean => valueOf(variables, each) !== null;
  const key = keyIsOptional || keyNames.some(isSet) ? null : keyNames[0];
  const base = baseUrl !== null || baseUrlName === null || isSet(baseUrlName) ? null : baseUrlName;
  const required = (what: string, next: string): BenchError =>
    new BenchError("usage", `${what} required for model ${name} but not set`, { next });
  if (key !== null && base !== null)
    return required(
      `${key} and ${base}`,
      `export ${key}=… and ${base}=https://… (of the two, .env may define the key alone)`,
    );
  const dotenv =
    provider.models === null ? ", or define it in .env" : " (it is not read from .env)";
  if (key !== null) return required(key, `export ${key}=…${dotenv}`);
  if (base !== null) return required(base, `export ${base}=https://… (it is not read from .env)`);
  return null;
}

function findProvider(
  name: string,
  providers: readonly Provider[],
): { readonly provider: Provider; readonly model: string } {
  const prefixed = longest(
    providers.filter(({ prefix }) => name.startsWith(`${prefix}/`)),
    ({ prefix }) => prefix.length,
  );
  if (prefixed !== null && name.length > prefixed.prefix.length + 1)
    return { provider: prefixed, model: name.slice(prefixed.prefix.length + 1) };
  if (AGENT_NAMES.has(name))
    throw new BenchError("usage", `model ${name} is a name that only Claude Code knows`, {
      next: "give the whole name, for example `-m anthropic/claude-sonnet-4-6`",
    });
  const families = providers
    .flatMap((provider) => provider.families.map((family) => ({ provider, family })))
    .filter(({ family }) => !name.endsWith("/") && isOfFamily(name, family));
  const found = longest(families, ({ family }) => family.length);
  if (found !== null) return { provider: found.provider, model: name };
  throw new BenchError("usage", `model ${JSON.stringify(name)}: no provider is known for it`, {
    next: "name the provider before it, for example `-m openrouter/<model>` or `-m vllm/<model>`",
  });
}

/** Equal, or followed by what is no letter: `glm5` yes, `glmnext` no (spec 9.2). */
function isOfFamily(name: string, family: string): boolean {
  const lower = name.toLowerCase();
  return lower.startsWith(family) && !/^[a-z]/u.test(lower.slice(family.length));
}

function longest<T>(items: readonly T[], lengthOf: (item: T) => number): T | null {
  let best: T | null = null;
  for (const item of items) if (best === null || lengthOf(item) > lengthOf(best)) best = item;
  return best;
}

function findKey(
  { keyNames }: Provider,
  variables: Variables,
): { readonly key: string; readonly keyName: string } {
  const keyName = keyNames.find((each) => valueOf(variables, each) !== null);
  // Without any it would be missing, but for the providers that ask for none.
  if (keyName === undefined) return { key: "-", keyName: keyNames[0] };
  const key = valueOf(variables, keyName) ?? "";
  // A header can hold nothing else, and what cannot be sent must not be shown.
  if (!/^[\u0021-\u007e]{1,8192}$/u.test(key))
    throw new BenchError("usage", `${keyName} holds characters that no key has`, {
      next: `export ${keyName} again, without spaces, quotes around it or line breaks`,
    });
  return { key, keyName };
}

/** Blank counts as unset (spec 5.4). */
function valueOf(variables: Variables, name: string | null): string | null {
  const value = name === null ? "" : (variables[name] ?? "").trim();
  return value === "" ? null : value;
}

function parseBase(what: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url?.username === "" && url.password === "" && url.hash === "";
  if (url !== null && isPlain && /^https?:$/u.test(url.protocol)) return url;
  throw new BenchError("usage", `${what} is no http or https URL`, {
    next: "give scheme, host and path, without a user, a password or a fragment",
  });
}
