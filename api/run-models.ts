import { basename } from "node:path";
import { BenchError, messageOf } from "../core/errors.ts";
import type { ModelProtocol } from "../core/model/exchange.ts";
import { SCRIPTED_MODEL, SCRIPTED_PROVIDER } from "../core/model/scripted-name.ts";
import { ProviderFile } from "../core/model/provider-file.ts";
import type { RunSettings } from "../core/model/settings.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { PriceTable } from "../core/ports/price-table.ts";
import { firstPriceOf, parsePriceFile } from "../core/usage/price-file.ts";
import {
  type FoundModel,
  findModel,
  type ResolvedEndpoint,
  type ResolvedModel,
  resolveModel,
} from "../core/providers/resolve-model.ts";
import { type OwnProviders, ownProviders } from "../core/providers/own-providers.ts";
import { codeOf } from "../host/error-code.ts";
import type { Agent } from "../runner/agents/agent.ts";
import type { LoginSession } from "../runner/model-access/login-session.ts";
import { loadGenaiPrices } from "../runner/proxy/genai-prices.ts";
import { readOwnFile, readSmallFile, shapeIn } from "./read-own-file.ts";
import { type LoginDeps, loginFor, orLogIn, subscribedModels } from "./subscribed-models.ts";
import { readScript, type RunScript, SCRIPT_PRICES } from "./model-script-file.ts";

/** How a run's agent asks its model: known, and found to be possible, before anything is created. */
export interface RunModels {
  readonly resolved: ResolvedModel;
  /**
   * The dialects that the agent speaks and the provider serves, the agent's best first; where there is
   * none the one that the agent's best is translated into.
   */
  readonly endpoints: readonly [ServedEndpoint, ...ServedEndpoint[]];
  /** What of the way to the model is not the provider's own, for the settings digest; null for its own. */
  readonly route: string | null;
  readonly prices: PriceTable;
  /** Secret variables that the person gives the agent itself: in no record of what it asks. */
  readonly agentSecrets?: readonly string[];
  /** The subscription that pays in the place of a key; null for a run with a key. */
  readonly login: LoginSession | null;
  /** What answers in the place of a provider; null for a run with one. */
  readonly script: RunScript | null;
}

/** A dialect of the provider's, and what agents speak that it serves. */
export interface ServedEndpoint extends ResolvedEndpoint {
  readonly agentProtocol: ModelProtocol;
}

/** What resolving a run's model touches of the world. */
export type ModelDeps = {
  readonly clock: Clock;
  /** Where keys and base URLs are looked up. */
  readonly modelVariables: Readonly<Record<string, string | undefined>>;
  /** The subscriptions whose logins count; those of this edition unless it is given. */
  readonly services?: LoginDeps["services"];
};

/**
 * Finds the model, its key and its price; null for an agent that calls no model. Throws `BenchError`
 * (`usage`, `config`) for everything that would keep every trial from its model, or a cap from being
 * kept. What is missing, key, base URL and price, is told in one error; a price file is read also for an
 * agent without a model.
 */
export async function resolveRunModels(
  settings: RunSettings,
  agent: Pick<Agent, "name" | "models">,
  deps: ModelDeps,
): Promise<RunModels | null> {
  const { clock, modelVariables } = deps;
  const own = settings.prices === null ? null : await readPriceFile(settings.prices);
  if (agent.models === null) return null;
  const { model } = settings;
  if (model === null)
    throw new BenchError("usage", `agent ${agent.name} needs a model`, {
      next: "name one with `-m provider/model`",
    });
  const script = await readScript(settings);
  if (script !== null) return scriptedModels(script, agent.models);
  const { providers, prices: theirs } = await readProviders(settings);
  const found = findModel(model, modelVariables, providers);
  const listed = await loadGenaiPrices();
  const login = found.missing === null ? null : await loginFor(settings, agent, found, deps);
  if (login !== null) return subscribedModels(login, found, listed);
  const prices = firstPriceOf([...(own === null ? [] : [own]), theirs, listed]);
  const unpriced = unpricedModel({ ...settings, model }, found, { prices, at: clock.now() });
  const { missing } = found;
  if (missing !== null) throw joinRefusals(orLogIn({ ...found, missing }, agent, deps), unpriced);
  const resolved = resolveModel(model, modelVariables, providers);
  const endpoints = servedEndpoints(resolved, agent.models);
  if (unpriced !== null) throw unpriced;
  return {
    resolved,
    endpoints,
    route: routeOf(resolved, endpoints),
    prices,
    login: null,
    script: null,
  };
}

/** Providers of the person's own; none without a file of them. */
async function readProviders(settings: RunSettings): Promise<OwnProviders> {
  const { providerFile: path, passEnv, agentEnv } = settings;
  if (path === null) return { providers: [], prices: { find: () => null } };
  const name = basename(path);
  const source = { path, asked: `--provider-file ${name}`, next: shapeIn("docs/proxy.md") };
  const own = ownProviders(await readOwnFile(ProviderFile, source), name);
  const keys = new Set(own.providers.flatMap(({ keyNames }) => keyNames));
  const given = [...passEnv, ...Object.keys(agentEnv)].find((each) => keys.has(each));
  if (given === undefined) return own;
  throw new BenchError("usage", `${given} is a provider's key, which no task and no agent gets`, {
    next: "leave it out of --pass-env and --agent-env: the model proxy uses it",
  });
}

function scriptedEndpoint(protocol: ModelProtocol): ServedEndpoint {
  const outputLimitField = "max_tokens";
  return { protocol, agentProtocol: protocol, baseUrl: "", keyHeader: "bearer", outputLimitField };
}

/** A script speaks every dialect, has no key and no address, and costs nothing. */
function scriptedModels(
  script: RunScript,
  { protocols: [first, ...others] }: NonNullable<Agent["models"]>,
): RunModels {
  const endpoints: RunModels["endpoints"] = [
    scriptedEndpoint(first),
    ...others.map(scriptedEndpoint),
  ];
  const names = { provider: SCRIPTED_PROVIDER, model: SCRIPTED_MODEL };
  const resolved = { ...names, key: "", keyName: "", endpoints, ownRoute: null };
  return { resolved, endpoints, route: null, prices: SCRIPT_PRICES, login: null, script };
}

/**
 * A measurement through a translation is not the provider's own, and where a provider serves both it is
 * another one than without.
 */
function routeOf({ ownRoute, provider }: ResolvedModel, [first]: RunModels["endpoints"]) {
  if (first.protocol === first.agentProtocol) return ownRoute;
  return `${ownRoute ?? provider} in ${first.protocol}`;
}

/** The provider's dialects that an agent speaks, else its best one, into which the agent's is translated. */
function servedEndpoints(
  { endpoints }: ResolvedModel,
  { protocols }: NonNullable<Agent["models"]>,
): RunModels["endpoints"] {
  const [first, ...others] = protocols.flatMap((agentProtocol): ServedEndpoint[] => {
    const endpoint = endpoints.find(({ protocol }) => protocol === agentProtocol);
    return endpoint === undefined ? [] : [{ ...endpoint, agentProtocol }];
  });
  if (first !== undefined) return [first, ...others];
  return [{ ...endpoints[0], agentProtocol: protocols[0] }];
}

async function readPriceFile(path: string): Promise<PriceTable> {
  const name = basename(path);
  try {
    return parsePriceFile(await readSmallFile(path), name);
  } catch (cause) {
    if (cause instanceof BenchError) throw cause;
    const why = codeOf(cause) || messageOf(cause);
    throw new BenchError("config", `--prices ${name} cannot be read (${why})`, {
      next: "see docs/proxy.md for the shape of a price file",
      cause,
    });
  }
}

/** Two lines, whatever is missing (spec 5.3). */
function joinRefusals(first: BenchError, second: BenchError | null): BenchError {
  if (second === null) return first;
  return new BenchError(first.kind, `${first.message}; ${second.message}`, {
    next: `${first.next}; ${second.next}`,
  });
}

/** A cap in dollars cannot be kept where nobody knows what a call costs (design 8). */
function unpricedModel(
  { model, maxCostUsd, maxCostPerTrialUsd }: RunSettings & { readonly model: string },
  { provider, model: upstream }: FoundModel,
  { prices, at }: { readonly prices: PriceTable; readonly at: Date },
): BenchError | null {
  if (maxCostUsd === null && maxCostPerTrialUsd === null) return null;
  if (prices.find({ provider, model: upstream, at }) !== null) return null;
  const flag = maxCostUsd === null ? "--max-cost-per-trial" : "--max-cost-usd";
  return new BenchError("usage", `${flag}: model ${model} has no known price`, {
    next: `give its price with --prices FILE (docs/proxy.md), or use --max-tokens`,
  });
}
