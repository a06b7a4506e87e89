import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { messageOf } from "../../core/errors.ts";
import { parseJson, recordOf } from "../../core/usage/json-view.ts";
import { deliverReply } from "./deliver-reply.ts";
import { contextOverflow, errorBody } from "./error-bodies.ts";
import { fillReply, shellTool } from "./fill-reply.ts";
import type { ScriptRequest } from "./script-request.ts";
import type { Fault, ModelScript, Turn } from "../../core/model/model-script.ts";
import { protocolOf, readModelRequest } from "./read-model-request.ts";
import type { ModelRequest } from "./read-model-request.ts";
import { renderAnthropic } from "./render-anthropic.ts";
import { renderCompletions } from "./render-completions.ts";
import { renderGemini } from "./render-gemini.ts";
import { renderResponses } from "./render-responses.ts";
import type { RenderedReply, ScriptedReply } from "./scripted-reply.ts";

/** A scripted model on loopback. */
export interface ScriptServer {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly origin: string;
  close(): Promise<void>;
}

export interface ServeOptions {
  /** Bearer token without which nobody is answered; absent: everybody is. */
  readonly key?: string;
  /** Sees every request as it begins; its fields are filled in as it goes. */
  readonly onRequest?: (request: ScriptRequest) => void;
}

/**
 * A model provider on loopback that says what its script says, in the four protocols, as their
 * providers do, with faults where the script has them. A script that asks for a tool which the agent
 * does not offer is answered with 500, so that no trial is scored by it.
 */
export async function serveScript(
  script: ModelScript,
  { key, onRequest = () => undefined }: ServeOptions = {},
): Promise<ScriptServer> {
  const model = new ScriptedModel(script, onRequest);
  const server = createServer((request, response) => {
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
      sendJson(response, 401, { error: { message: "not a request of this trial", code: 401 } });
      return;
    }
    model.answer(request, response).catch((thrown: unknown) => {
      if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
      response.end(`scripted model: ${messageOf(thrown)}`);
    });
  });
  return {
    origin: `http://127.0.0.1:${String(await listen(server))}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Resolves to the port that the system chose. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port of the system's");
  return address.port;
}

class ScriptedModel {
  readonly #script: ModelScript;
  readonly #onRequest: (request: ScriptRequest) => void;
  #requests = 0;
  /** How many requests each fault has matched so far. */
  readonly #matches = new Map<Fault, number>();

  constructor(script: ModelScript, onRequest: (request: ScriptRequest) => void) {
    this.#script = script;
    this.#onRequest = onRequest;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://scripted");
    const entry = this.#enter(request, url);
    response.on("close", () => {
      entry.aborted = !response.writableFinished;
      entry.ended = true;
      entry.status = response.headersSent ? response.statusCode : null;
    });
    const bytes = await readAll(request);
    entry.bodyBytes = bytes.length;
    const text = decode(bytes, request.headers["content-encoding"]).toString("utf8");
    entry.body = text === "" ? null : (parseJson(text) ?? text);
    const protocol = protocolOf(request.method ?? "", url.pathname);
    if (protocol === null) return this.#answerOther(url.pathname, response);
    entry.protocol = protocol;
    const asked = readModelRequest(protocol, url.pathname, { ...recordOf(entry.body) });
    entry.kind = shellTool(asked.tools) === null ? "side" : "main";
    const fault = this.#nextFault(entry.kind);
    entry.fault = fault?.kind ?? null;
    if (fault !== null && failAtOnce(fault, { asked, request, response })) return;
    const turn = this.#turnFor(asked, entry);
    const reply = withFault(fillReply(turn, asked), fault);
    const rendered = render(reply, asked);
    await deliverReply(response, rendered, { stream: asked.stream, fault, script: this.#script });
  }

  #enter(request: IncomingMessage, url: URL): ScriptRequest {
    const entry: ScriptRequest = {
      index: this.#requests,
      method: request.method ?? "",
      path: url.pathname,
      query: url.search,
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      bodyBytes: 0,
      body: null,
      protocol: null,
      kind: "other",
      turn: null,
      fault: null,
      status: null,
      aborted: false,
      ended: false,
    };
    this.#requests += 1;
    this.#onRequest(entry);
    return entry;
  }

  #answerOther(path: string, response: ServerResponse): void {
    if (path.endsWith("/models")) {
      const data = this.#script.models.map((id) => ({ id, object: "model", owned_by: "scripted" }));
      return sendJson(response, 200, { object: "list", data });
    }
    sendJson(response, 404, { error: { message: `no such path ${path}`, code: 404 } });
  }

  #nextFault(kind: "main" | "side"): Fault | null {
    for (const fault of this.#script.faults) {
      if (fault.on !== "any" && fault.on !== kind) continue;
      const seen = this.#matches.get(fault) ?? 0;
      this.#matches.set(fault, seen + 1);
      const last = fault.times === null ? Infinity : fault.after + fault.times;
      if (seen >= fault.after && seen < last) return fault;
    }
    return null;
  }

  #turnFor(asked: ModelRequest, entry: ScriptRequest): Turn {
    if (entry.kind === "side") return this.#script.side;
    const index = Math.min(asked.turnsSoFar, this.#script.turns.length - 1);
    entry.turn = index;
    const turn = this.#script.turns[index];
    if (turn === undefined) throw new Error("a script without turns");
    return turn;
  }
}

/** Faults that replace the whole answer; false for the others. */
function failAtOnce(
  fault: Fault,
  at: {
    readonly asked: ModelRequest;
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
  },
): boolean {
  const { protocol } = at.asked;
  switch (fault.kind) {
    case "status": {
      const message = fault.message ?? `scripted fault ${fault.status}`;
      const body = errorBody(protocol, fault.status, message);
      sendJson(at.response, fault.status, body, fault.headers);
      return true;
    }
    case "context-overflow":
      sendJson(at.response, 400, contextOverflow(protocol));
      return true;
    case "hang":
      return true;
    case "reset":
      at.request.socket.resetAndDestroy();
      return true;
    case "slow-first-byte":
    case "stall":
    case "cut":
    case "no-usage":
    case "wrong-usage":
    case "huge-body":
      return false;
  }
}

function withFault(reply: ScriptedReply, fault: Fault | null): ScriptedReply {
  if (fault?.kind === "wrong-usage") return { ...reply, usage: fault.usage };
  if (fault?.kind === "huge-body") return { ...reply, text: "x".repeat(fault.bytes) };
  return reply;
}

function render(reply: ScriptedReply, asked: ModelRequest): RenderedReply {
  switch (asked.protocol) {
    case "anthropic-messages":
      return renderAnthropic(reply);
    case "openai-completions":
      return renderCompletions(reply, asked.includeUsage);
    case "openai-responses":
      return renderResponses(reply);
    case "gemini":
      return renderGemini(reply);
  }
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, encoding: string | undefined): Buffer {
  if (encoding === "gzip") return gunzipSync(bytes);
  if (encoding === "br") return brotliDecompressSync(bytes);
  return encoding === "deflate" ? inflateSync(bytes) : bytes;
}
