import { UpstreamError } from "../../core/ports/model-upstream.ts";
import type { UpstreamReply } from "../../core/ports/model-upstream.ts";
import { parseJson, recordOf, textOf } from "../../core/usage/json-view.ts";
import { UsageMeter } from "../../core/usage/usage-meter.ts";
import { translateError } from "../translation/translate-error.ts";
import type { ProxyError } from "./error-reply.ts";
import { agentHeaders } from "./header-lists.ts";
import type { ProxyContext } from "./proxy-context.ts";
import type { Redactor } from "./redact/redactor.ts";
import type { HeldCall } from "./reserve-spend.ts";

const MAX_ERROR_BYTES = 1024 * 1024;

/** Statuses on which agents wait and try again if they are told for how long. */
const WAITABLE = new Set([429, 503, 529]);

/** Providers repeat parts of a refused key; such an answer is told in our own words. */
const ABOUT_KEYS: ReadonlyMap<number, ProxyError["code"]> = new Map([
  [401, "invalid_api_key"],
  [402, "insufficient_quota"],
  [403, "permission_denied"],
]);

/**
 * Passes a provider's refusal on: its status, its body without any known secret, and a time to wait
 * where it names none. What it says of its usage, if anything, goes into the record.
 */
export async function passError(
  context: ProxyContext,
  { record, agent, guard }: HeldCall,
  reply: UpstreamReply,
): Promise<void> {
  const call = record.prepared;
  if (call === null) return;
  guard.awaitMore();
  const bytes = await readErrorBody(reply);
  guard.pause();
  record.responseBytes = bytes.length;
  const meter = new UsageMeter(call.sentProtocol, "json");
  meter.push(bytes);
  record.reading = meter.end();
  const text = new TextDecoder().decode(bytes);
  const { status } = reply;
  const code = ABOUT_KEYS.get(status);
  record.responseBody = code === undefined ? (parseJson(text) ?? text) : withoutMessage(text);
  const headers = agentHeaders(reply.headers, context.redactor);
  if (WAITABLE.has(status) && headers["retry-after"] === undefined)
    headers["retry-after"] = String(context.limits.retryAfterSec);
  const plain = `the provider answered ${status}`;
  if (code !== undefined) agent.sendError(call.protocol, { status, code, message: plain });
  else if (call.translation !== null) {
    const error = translateError(call.protocol, {
      status,
      text: withoutSecrets(text, context.redactor),
    });
    agent.sendError(call.protocol, { status, ...error }, headers);
  } else if (agent.isCommitted) {
    const { error } = recordOf(record.responseBody);
    const told = context.redactor.knownIn(textOf(recordOf(error)["message"]) ?? "");
    agent.sendError(call.protocol, {
      status,
      code: textOf(recordOf(error)["code"]) ?? `upstream_${status}`,
      message: told === "" ? plain : `${plain}: ${told}`,
    });
  } else agent.send(status, headers, withoutSecrets(text, context.redactor));
  if (code !== undefined)
    context.state.tell({ type: "provider-refused", status, index: record.index });
}

async function readErrorBody(reply: UpstreamReply): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of reply.body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_ERROR_BYTES) break;
    }
  } catch (thrown) {
    // The status says what matters; the body is passed on as far as it came.
    if (!(thrown instanceof UpstreamError)) throw thrown;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES);
}

/**
 * An error's body without any known secret, also where JSON spells its letters as escapes: only then is
 * the body not the provider's own text any more.
 */
function withoutSecrets(text: string, redactor: Redactor): string {
  const body = parseJson(text);
  let isFound = false;
  const clean = redactor.value(body, (part) => {
    const known = redactor.knownIn(part);
    isFound ||= known !== part;
    return known;
  });
  return redactor.knownIn(isFound ? JSON.stringify(clean) : text);
}

/** Of an error about keys only the words that no key can be in. */
function withoutMessage(text: string): unknown {
  const { type, code, status } = recordOf(recordOf(parseJson(text))["error"]);
  return { error: { type, code, status, message: "withheld: it may hold parts of a key" } };
}
