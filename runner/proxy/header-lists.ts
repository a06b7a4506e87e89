import type { IncomingHttpHeaders } from "node:http";
import type { ModelProtocol } from "../../core/model/exchange.ts";
import type { Redactor } from "./redact/redactor.ts";

/** What of an agent's headers goes to the provider. Credentials, session ids and cookies never do. */
const REQUEST_HEADERS = new Set([
  "content-type",
  "accept",
  "user-agent",
  "anthropic-version",
  "anthropic-beta",
  "openai-beta",
]);

/** What of a provider's headers comes back; rate limits by their prefixes. */
const REPLY_HEADERS = new Set([
  "content-type",
  "retry-after",
  "retry-after-ms",
  "request-id",
  "x-request-id",
  "x-should-retry",
]);
const REPLY_PREFIXES = ["anthropic-ratelimit-", "x-ratelimit-"];
const MAX_VALUE_LENGTH = 4096;

/** The agent's headers that may go upstream. Answers come unencoded, so that they can be metered. */
export function upstreamHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const passed = pick(headers, (name) => REQUEST_HEADERS.has(name));
  return { ...passed, "content-type": "application/json", "accept-encoding": "identity" };
}

const ANTHROPIC_VERSION = "2023-06-01";

/** The same for a call in another protocol: nothing that only the agent's own provider would know. */
export function translatedHeaders(
  headers: IncomingHttpHeaders,
  protocol: ModelProtocol,
): Record<string, string> {
  const passed = pick(headers, (name) => name === "user-agent");
  return {
    ...passed,
    "content-type": "application/json",
    "accept-encoding": "identity",
    ...(protocol === "anthropic-messages" ? { "anthropic-version": ANTHROPIC_VERSION } : {}),
  };
}

/** The provider's headers that may reach the agent and the record; one that repeats a secret is neither's. */
export function agentHeaders(
  headers: Readonly<Record<string, string>>,
  redactor: Pick<Redactor, "knownIn">,
): Record<string, string> {
  const picked = pick(
    headers,
    (name) => REPLY_HEADERS.has(name) || REPLY_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  const clean = Object.entries(picked).filter(
    ([name, value]) => redactor.knownIn(name) === name && redactor.knownIn(value) === value,
  );
  return Object.fromEntries(clean);
}

function pick(
  headers: IncomingHttpHeaders,
  isKept: (name: string) => boolean,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (typeof value === "string" && value.length <= MAX_VALUE_LENGTH && isKept(name))
      kept[name] = value;
  return kept;
}
