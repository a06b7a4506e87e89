import type { CallPurpose, ModelProtocol } from "../../core/model/exchange.ts";
import type { ModelUpstream } from "../../core/ports/model-upstream.ts";
import { callPurpose } from "../../core/usage/call-purpose.ts";
import { inspectRequest } from "../../core/usage/inspect-request.ts";
import { isRecord, parseJson, recordOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import type { RequestFacts } from "../../core/usage/request-facts.ts";
import type { KnownTool } from "../translation/responses-tools.ts";
import { doubledKey, jsonMembers, withMembers } from "./json-members.ts";
import type { ModelRules } from "./proxy-options.ts";

/** A request as it will go upstream. */
export interface PreparedCall {
  /** The agent's. */
  readonly protocol: ModelProtocol;
  /** The provider's: `facts`, `bytes` and `body` are in it. */
  readonly sentProtocol: ModelProtocol;
  /** Null where the two are one. */
  readonly translation: CallTranslation | null;
  /** The name that the agent used, to be told back to it. */
  readonly modelAsked: string;
  readonly modelSent: string;
  /** What is sent, not what was asked: our own changes included. */
  readonly facts: RequestFacts;
  readonly purpose: CallPurpose;
  readonly bytes: Buffer;
  /** The same, parsed, for the record. */
  readonly body: JsonRecord;
  /** As the agent sent it. */
  readonly agentBody: JsonRecord;
}

/** What of a translated request its reply and its record need. */
export interface CallTranslation {
  /** Of Responses alone: how the agent knows its tools, by the names that were sent. */
  readonly tools: ReadonlyMap<string, KnownTool>;
  readonly leftOut: readonly string[];
}

export interface PrepareRefusal {
  readonly status: 400;
  readonly code: "invalid_body" | "model_not_allowed" | "not_translatable";
  readonly message: string;
  /** Known as soon as the body was readable. */
  readonly purpose: CallPurpose | null;
  readonly modelAsked: string | null;
}

export interface PrepareRules {
  readonly models: ModelRules;
  readonly maxOutputTokens: number | null;
  readonly upstream: Pick<ModelUpstream, "outputLimitField">;
}

export interface IncomingCall {
  readonly protocol: ModelProtocol;
  readonly bytes: Buffer;
  readonly path: { readonly model: string | null; readonly stream: boolean };
}

/**
 * Reads a request's body, holds it to the models that the trial may use, and makes the few changes
 * that a provider must see: the model's own name, usage in the stream, the user's output limit. Bytes
 * that need no change stay as they are.
 */
export function prepareCall(
  incoming: IncomingCall,
  rules: PrepareRules,
): PreparedCall | PrepareRefusal {
  const text = decodeUtf8(incoming.bytes);
  const body = text === null ? undefined : parseJson(text);
  if (text === null || !isRecord(body)) return invalid("body is not a JSON object");
  // Two readers of one key may take different values, so the provider could get another model.
  const twice = doubledAnywhere(text);
  if (twice !== null) return invalid(`key ${JSON.stringify(twice.slice(0, 100))} stands twice`);
  const { protocol, path } = incoming;
  const asked = inspectRequest(protocol, body, path);
  const purpose = callPurpose(asked);
  const refusal = modelRefusal(asked, rules.models);
  if (refusal !== null) return { ...refusal, purpose, modelAsked: asked.model };
  const edits = editsFor(incoming, { body, facts: asked, rules });
  const changed = edits.size === 0 ? text : withMembers(text, edits);
  const sent = edits.size === 0 ? body : recordOf(parseJson(changed));
  return {
    protocol,
    sentProtocol: protocol,
    translation: null,
    modelAsked: asked.model ?? "",
    modelSent: rules.models.upstreamModel,
    facts: edits.size === 0 ? asked : inspectRequest(protocol, sent, path),
    purpose,
    bytes: edits.size === 0 ? incoming.bytes : Buffer.from(changed),
    body: sent,
    agentBody: body,
  };
}

/** Gemini's limits stand one level down. */
const NESTED = new Set(["generationConfig", "generation_config"]);

function doubledAnywhere(text: string): string | null {
  const members = jsonMembers(text);
  const nested = members.filter(({ key }) => NESTED.has(key));
  if (nested.length > 1) return "generationConfig";
  const inner = nested.map(({ valueStart }) => doubledKey(jsonMembers(text, valueStart)));
  return doubledKey(members) ?? inner[0] ?? null;
}

function invalid(message: string): PrepareRefusal {
  return { status: 400, code: "invalid_body", message, purpose: null, modelAsked: null };
}

function modelRefusal(
  { model, otherModels }: RequestFacts,
  rules: ModelRules,
): Pick<PrepareRefusal, "status" | "code" | "message"> | null {
  const allowed = new Set([rules.clientModel, ...rules.aliases]);
  const other = [model ?? "", ...otherModels].find((name) => !allowed.has(name));
  if (other === undefined) return null;
  const named = JSON.stringify(other.slice(0, 100));
  return {
    status: 400,
    code: "model_not_allowed",
    message: `model ${named} is not the model of this run`,
  };
}

function editsFor(
  { protocol }: IncomingCall,
  at: { readonly body: JsonRecord; readonly facts: RequestFacts; readonly rules: PrepareRules },
): Map<string, string> {
  const { body, facts, rules } = at;
  const edits = new Map<string, string>();
  const { upstreamModel } = rules.models;
  // A list of fallbacks names models by the client's names; the one model is all that it may hold.
  if (facts.otherModels.length > 0 && protocol === "anthropic-messages")
    edits.set("fallbacks", "null");
  else if (facts.otherModels.length > 0) edits.set("models", JSON.stringify([upstreamModel]));
  if (protocol !== "gemini" && facts.model !== upstreamModel)
    edits.set("model", JSON.stringify(upstreamModel));
  const options = recordOf(body["stream_options"]);
  if (protocol === "openai-completions" && facts.stream && options["include_usage"] !== true)
    edits.set("stream_options", JSON.stringify({ ...options, include_usage: true }));
  const limit = rules.maxOutputTokens;
  if (limit !== null && (facts.outputLimit === null || facts.outputLimit > limit))
    for (const [key, value] of limitEdits(protocol, at, limit)) edits.set(key, value);
  return edits;
}

function limitEdits(
  protocol: ModelProtocol,
  at: { readonly body: JsonRecord; readonly rules: PrepareRules },
  limit: number,
): [string, string][] {
  const { body, rules } = at;
  switch (protocol) {
    case "anthropic-messages":
      return [["max_tokens", String(limit)]];
    case "openai-responses":
      return [["max_output_tokens", String(limit)]];
    case "openai-completions": {
      const sent = ["max_tokens", "max_completion_tokens"].filter((field) => field in body);
      const fields = sent.length > 0 ? sent : [rules.upstream.outputLimitField];
      return fields.map((field) => [field, String(limit)]);
    }
    case "gemini": {
      const field = "generation_config" in body ? "generation_config" : "generationConfig";
      const config = { ...recordOf(body[field]), maxOutputTokens: limit };
      return [[field, JSON.stringify(config)]];
    }
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Buffer): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    // Not UTF-8: no JSON that two readers would read alike.
    return null;
  }
}
