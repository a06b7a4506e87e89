import type { TrialAccount } from "../core/ledger/trial-account.ts";
import { type ModelScript, scriptOf } from "../core/model/model-script.ts";
import type { AttemptSpec } from "../core/model/trial.ts";
import type { ModelAccess } from "../core/ports/model-access.ts";
import type { ModelUpstream } from "../core/ports/model-upstream.ts";
import type { KeyHeader } from "../core/providers/provider.ts";
import { proxiedModels, type ProxiedModelsOptions } from "../runner/model-access/proxied-models.ts";
import { loginUpstream } from "../runner/model-access/login-upstream.ts";
import { createHttpUpstream, type Credential } from "../runner/proxy/http-upstream.ts";
import { scriptedUpstreams } from "../runner/scripted-model/scripted-upstreams.ts";
import type { RunScript } from "./model-script-file.ts";
import type { RunModels, ServedEndpoint } from "./run-models.ts";

type Connection = Pick<
  ProxiedModelsOptions,
  "maxOutputTokens" | "capped" | "clock" | "onWarning" | "keyWatch" | "limits"
> & { readonly models: RunModels };

/** A trial's way to the run's model: the provider's key stays in this process. */
export function connectModels(account: TrialAccount, connection: Connection): ModelAccess {
  const { models, ...shared } = connection;
  const { provider, model, key } = models.resolved;
  const { script, login } = models;
  const upstream = ({ keyHeader, ...endpoint }: ServedEndpoint): ModelUpstream => {
    if (login !== null) return loginUpstream(login, { provider, ...endpoint });
    const credential = credentialOf(keyHeader, key);
    return createHttpUpstream({ provider, ...endpoint, credential: async () => credential });
  };
  const [first, ...others] = models.endpoints;
  return proxiedModels(account, {
    ...shared,
    provider,
    model,
    prices: models.prices,
    secrets: [...(key.length > 1 ? [key] : []), ...(models.agentSecrets ?? [])],
    ...(login === null ? {} : { loginSecrets: login.secrets }),
    connect: (spec) =>
      script === null
        ? [upstream(first), ...others.map(upstream)]
        : scriptedUpstreams(turnsFor(spec, script), models.endpoints),
  });
}

function turnsFor({ task }: AttemptSpec, { name, file }: RunScript): ModelScript {
  const own = scriptOf(file, task.name);
  if (own === null) throw new Error(`${name} has no turns for ${task.name}`);
  return own;
}

function credentialOf(keyHeader: KeyHeader, key: string): Credential {
  return keyHeader === "bearer"
    ? { header: "authorization", value: `Bearer ${key}` }
    : { header: keyHeader, value: key };
}
