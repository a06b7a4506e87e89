import { inspectRequest } from "../../core/usage/inspect-request.ts";
import type { ModelUpstream } from "../../core/ports/model-upstream.ts";
import { translateRequest } from "../translation/translate-request.ts";
import type { PreparedCall, PrepareRefusal } from "./prepare-call.ts";
import type { ProxyContext } from "./proxy-context.ts";

/** What Claude Code itself sends for a model that it does not know. */
const DEFAULT_MAX_TOKENS = 32_000;

/**
 * A prepared call in the protocol of its upstream; the same call where that is the agent's. What cannot
 * be carried over is a refusal.
 */
export function translateCall(
  context: Pick<ProxyContext, "callMemory" | "prices" | "clock">,
  call: PreparedCall,
  upstream: ModelUpstream,
): PreparedCall | PrepareRefusal {
  const to = upstream.protocol;
  if (to === call.protocol) return call;
  const { purpose, modelAsked, modelSent } = call;
  const path = { model: modelSent, stream: call.facts.stream };
  const translated = translateRequest({
    from: call.protocol,
    to,
    body: call.body,
    path,
    memory: context.callMemory,
    outputLimitField: upstream.outputLimitField,
    maxTokens: maxTokensOf(context, call, upstream),
  });
  if ("refused" in translated) {
    const message = translated.refused;
    return { status: 400, code: "not_translatable", message, purpose, modelAsked };
  }
  const { body, tools, leftOut } = translated;
  return {
    ...call,
    sentProtocol: to,
    translation: { tools, leftOut },
    facts: inspectRequest(to, body, path),
    bytes: Buffer.from(JSON.stringify(body)),
    body,
  };
}

function maxTokensOf(
  { prices, clock }: Pick<ProxyContext, "prices" | "clock">,
  { modelSent }: PreparedCall,
  { provider }: ModelUpstream,
): number {
  const card = prices.find({ provider, model: modelSent, at: clock.now() });
  return Math.min(card?.maxOutputTokens ?? DEFAULT_MAX_TOKENS, DEFAULT_MAX_TOKENS);
}
