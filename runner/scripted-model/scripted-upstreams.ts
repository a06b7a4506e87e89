import { randomUUID } from "node:crypto";
import type { ModelProtocol } from "../../core/model/exchange.ts";
import type { ModelScript } from "../../core/model/model-script.ts";
import { SCRIPTED_PROVIDER } from "../../core/model/scripted-name.ts";
import type { ModelUpstream } from "../../core/ports/model-upstream.ts";
import { createHttpUpstream } from "../proxy/http-upstream.ts";
import { serveScript, type ScriptServer } from "./serve-script.ts";

/** Where a provider of each protocol has what the protocol's own paths follow. */
const BASE_PATHS: Readonly<Record<ModelProtocol, string>> = {
  "anthropic-messages": "",
  "openai-completions": "/v1",
  "openai-responses": "/v1",
  gemini: "/v1beta",
};

type Spoken = { readonly protocol: ModelProtocol };

/** Before the server has a port: nothing is sent there. */
const NOWHERE = "http://127.0.0.1:1";

/**
 * A script as the provider of one trial, in each of the protocols: a server on loopback, which starts
 * with the first call, answers none but these upstreams, and ends when the first of them is closed.
 */
export function scriptedUpstreams(
  script: ModelScript,
  [first, ...others]: readonly [Spoken, ...Spoken[]],
): readonly [ModelUpstream, ...ModelUpstream[]] {
  const key = randomUUID();
  let serving: Promise<ScriptServer> | null = null;
  const open = async (): Promise<ScriptServer> => await (serving ??= serveScript(script, { key }));
  const close = (): void => {
    void serving?.then(async (server) => await server.close());
  };
  const upstream = ({ protocol }: Spoken): ModelUpstream => {
    const at = (origin: string): ModelUpstream =>
      createHttpUpstream({
        provider: SCRIPTED_PROVIDER,
        protocol,
        baseUrl: origin + BASE_PATHS[protocol],
        credential: () => Promise.resolve({ header: "authorization", value: `Bearer ${key}` }),
      });
    let connected: ModelUpstream | null = null;
    return {
      ...at(NOWHERE),
      send: async (call) => {
        const { origin } = await open();
        connected ??= at(origin);
        return await connected.send(call);
      },
      close: () => {
        connected?.close();
        close();
      },
    };
  };
  return [upstream(first), ...others.map(upstream)];
}
