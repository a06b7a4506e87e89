import type { ModelProtocol } from "../../../core/model/exchange.ts";
import type { ModelUpstream } from "../../../core/ports/model-upstream.ts";
import { createHttpUpstream } from "../../../runner/proxy/http-upstream.ts";
import type { ProxyOptions } from "../../../runner/proxy/proxy-options.ts";
import { aProxy, PROVIDER_KEY, type ProxyFixture } from "../proxy/proxy-fixture.ts";

const BASES: Readonly<Record<ModelProtocol, string>> = {
  "anthropic-messages": "",
  "openai-completions": "/v1",
  "openai-responses": "/v1",
  gemini: "/v1beta",
};

/** A provider of one protocol, for agents of another one. */
export function translatingUpstream(
  origin: string,
  from: ModelProtocol,
  to: ModelProtocol,
): ModelUpstream {
  return createHttpUpstream({
    provider: "xiaomi",
    protocol: to,
    agentProtocol: from,
    baseUrl: origin + BASES[to],
    credential: () => Promise.resolve({ header: "authorization", value: `Bearer ${PROVIDER_KEY}` }),
  });
}

/** A proxy for agents of one protocol before a provider that speaks another one. */
export async function aTranslatingProxy(
  origin: string,
  from: ModelProtocol,
  to: ModelProtocol,
  options: Partial<ProxyOptions> = {},
): Promise<ProxyFixture> {
  const upstreams = [translatingUpstream(origin, from, to)];
  return await aProxy(origin, { upstreams, ...options });
}
