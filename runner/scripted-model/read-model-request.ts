import type { ModelProtocol } from "../../core/model/exchange.ts";
import { listOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { OfferedTool } from "./scripted-reply.ts";

/** What the scripted model looks at in a request. */
export interface ModelRequest {
  readonly protocol: ModelProtocol;
  readonly model: string;
  readonly stream: boolean;
  readonly tools: readonly OfferedTool[];
  /** Turns of the assistant that the request already holds. */
  readonly turnsSoFar: number;
  readonly includeUsage: boolean;
}

const GEMINI_PATH = /\/models\/([^/:]+):(stream)?[gG]enerateContent$/u;

export function protocolOf(method: string, path: string): ModelProtocol | null {
  if (method !== "POST") return null;
  if (path.endsWith("/messages")) return "anthropic-messages";
  if (path.endsWith("/chat/completions")) return "openai-completions";
  if (path.endsWith("/responses")) return "openai-responses";
  return GEMINI_PATH.test(path) ? "gemini" : null;
}

export function readModelRequest(
  protocol: ModelProtocol,
  path: string,
  body: Record<string, unknown>,
): ModelRequest {
  const gemini = GEMINI_PATH.exec(path);
  const isGemini = protocol === "gemini";
  return {
    protocol,
    model: isGemini ? decodeURIComponent(gemini?.[1] ?? "") : (textOf(body["model"]) ?? ""),
    stream: isGemini ? gemini?.[2] === "stream" : body["stream"] === true,
    tools: toolsOf(protocol, body),
    turnsSoFar: countTurns(protocol, body),
    includeUsage: recordOf(body["stream_options"])["include_usage"] === true,
  };
}

function toolsOf(protocol: ModelProtocol, body: Record<string, unknown>): OfferedTool[] {
  const tools = listOf(body["tools"]).map(recordOf);
  switch (protocol) {
    case "anthropic-messages":
      return tools.flatMap((tool) => offered(tool["name"], tool["type"], tool["input_schema"]));
    case "openai-completions":
      return tools.flatMap((tool) => {
        const { name, parameters } = recordOf(tool["function"]);
        return offered(name, tool["type"], parameters);
      });
    case "openai-responses":
      return tools
        .flatMap((tool) =>
          tool["type"] === "namespace" ? listOf(tool["tools"]).map(recordOf) : [tool],
        )
        .flatMap((tool) => offered(tool["name"] ?? tool["type"], tool["type"], tool["parameters"]));
    case "gemini":
      return tools
        .flatMap((tool) => listOf(tool["functionDeclarations"]).map(recordOf))
        .flatMap((tool) =>
          offered(tool["name"], null, tool["parametersJsonSchema"] ?? tool["parameters"]),
        );
  }
}

function offered(name: unknown, type: unknown, schema: unknown): OfferedTool[] {
  if (typeof name !== "string") return [];
  return [{ name, type: textOf(type), schema: { ...recordOf(schema) } }];
}

const HISTORY_KEYS: Readonly<Record<ModelProtocol, string>> = {
  "anthropic-messages": "messages",
  "openai-completions": "messages",
  "openai-responses": "input",
  gemini: "contents",
};

/** Runs of assistant entries; one run is one turn, however many items a protocol cuts it into. */
function countTurns(protocol: ModelProtocol, body: Record<string, unknown>): number {
  const key = HISTORY_KEYS[protocol];
  let turns = 0;
  let inTurn = false;
  for (const entry of listOf(body[key])) {
    const isAssistant = ofAssistant(recordOf(entry));
    if (isAssistant && !inTurn) turns += 1;
    inTurn = isAssistant;
  }
  return turns;
}

function ofAssistant(entry: Readonly<Record<string, unknown>>): boolean {
  const { role, type } = entry;
  if (role !== undefined) return role === "assistant" || role === "model";
  return typeof type === "string" && (type === "reasoning" || type.endsWith("_call"));
}
