import type { ModelProtocol } from "../../core/model/exchange.ts";

/** What a request line asks for. Everything that is not known is refused. */
export type Route =
  | {
      readonly kind: "model";
      readonly protocol: ModelProtocol;
      /** Only Gemini has these two in its path. */
      readonly model: string | null;
      readonly stream: boolean;
      readonly query: ReadonlyMap<string, string>;
    }
  | { readonly kind: "count-tokens"; readonly protocol: ModelProtocol }
  | { readonly kind: "models"; readonly protocol: ModelProtocol; readonly model: string | null }
  | { readonly kind: "health" }
  | { readonly kind: "refused"; readonly status: 400 | 404; readonly reason: string };

export interface RoutedRequest {
  readonly route: Route;
  /** The path without its query, for the record. */
  readonly path: string;
  /** The value of `?key=`, which some clients put their credential in. */
  readonly keyParameter: string | null;
}

const MAX_TARGET_LENGTH = 2048;
// Visible ASCII only, and nothing that two readers of a path could read differently.
const PLAIN_TARGET = /^\/(?!\/)[!-~]*$/u;
const UNSAFE_PATH = /\/\/|\\|\/\.{1,2}(?:\/|$)|%2e|%5c|%0|%1|%25|#/iu;

const EXACT: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["POST /messages", modelRoute("anthropic-messages")],
  ["POST /chat/completions", modelRoute("openai-completions")],
  ["POST /responses", modelRoute("openai-responses")],
  ["POST /messages/count_tokens", { kind: "count-tokens", protocol: "anthropic-messages" }],
  ["POST /responses/input_tokens", { kind: "count-tokens", protocol: "openai-responses" }],
  ["GET /models", { kind: "models", protocol: "openai-completions", model: null }],
]);

const VERSION = /^\/(?:v1|v1beta|v1alpha)(?=\/)/u;
const GEMINI_CALL = /^\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/u;
const ONE_MODEL = /^\/models\/([^/:]+)$/u;

/** Query parameters that change what a provider answers; all others stay here. */
const PASSED_PARAMETERS = new Set(["beta", "alt"]);

/** Reads method and request target as they stand on the wire. Never throws. */
export function routeRequest(method: string, target: string): RoutedRequest {
  const [path = "", search = ""] = splitOnce(target, "?");
  const parameters = new URLSearchParams(search);
  const keyParameter = parameters.get("key");
  const refused = (status: 400 | 404, reason: string): RoutedRequest => ({
    route: { kind: "refused", status, reason },
    path: path.slice(0, MAX_TARGET_LENGTH),
    keyParameter,
  });
  if (target.length > MAX_TARGET_LENGTH) return refused(400, "target too long");
  if (!PLAIN_TARGET.test(target)) return refused(400, "not an origin-form target");
  if (UNSAFE_PATH.test(path)) return refused(400, "unsafe path");
  if (path === "/" && (method === "HEAD" || method === "GET"))
    return { route: { kind: "health" }, path, keyParameter };
  const route = findRoute(method, path);
  if (route === null) return refused(404, "path not served");
  if (route.kind !== "model") return { route, path, keyParameter };
  const query = new Map([...parameters].filter(([name]) => PASSED_PARAMETERS.has(name)));
  return { route: { ...route, query }, path, keyParameter };
}

function findRoute(method: string, path: string): Route | null {
  const isGoogle = path.startsWith("/v1beta/") || path.startsWith("/v1alpha/");
  const rest = path.replace(VERSION, "");
  const exact = EXACT.get(`${method} ${rest}`);
  if (exact !== undefined)
    return isGoogle && exact.kind === "models" ? { ...exact, protocol: "gemini" } : exact;
  const call = method === "POST" ? GEMINI_CALL.exec(rest) : null;
  if (call !== null) return geminiRoute(call[1] ?? "", call[2] ?? "");
  const one = method === "GET" ? ONE_MODEL.exec(rest) : null;
  if (one === null) return null;
  const model = decoded(one[1] ?? "");
  const protocol = isGoogle ? "gemini" : "openai-completions";
  return model === null ? null : { kind: "models", protocol, model };
}

function geminiRoute(segment: string, action: string): Route | null {
  const model = decoded(segment);
  if (model === null) return null;
  if (action === "countTokens") return { kind: "count-tokens", protocol: "gemini" };
  const stream = action === "streamGenerateContent";
  return { kind: "model", protocol: "gemini", model, stream, query: new Map() };
}

function modelRoute(protocol: ModelProtocol): Route {
  return { kind: "model", protocol, model: null, stream: false, query: new Map() };
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    // A malformed escape names no model.
    return null;
  }
}

function splitOnce(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
