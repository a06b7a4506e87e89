import * as http from "node:http";
import * as https from "node:https";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { BenchError } from "../../core/errors.ts";
import type { ModelProtocol } from "../../core/model/exchange.ts";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import { UpstreamError } from "../../core/ports/model-upstream.ts";
import type {
  ModelUpstream,
  UpstreamCall,
  UpstreamReply,
} from "../../core/ports/model-upstream.ts";

/** One header that proves who pays. Asked for at each call, so that a login can be renewed. */
export interface Credential {
  readonly header: string;
  readonly value: string;
  /** What goes beside it; lists of betas are added to the agent's own. */
  readonly also?: Readonly<Record<string, string>>;
}

export interface HttpUpstreamOptions {
  readonly provider: string;
  readonly protocol: ModelProtocol;
  readonly agentProtocol?: ModelProtocol;
  /**
   * What stands before the protocol's own path: `https://api.openai.com/v1` for the OpenAI protocols,
   * `https://api.anthropic.com` for Messages, `https://generativelanguage.googleapis.com/v1beta` for
   * Gemini.
   */
  readonly baseUrl: string;
  readonly credential: (call: UpstreamCall) => Promise<Credential>;
  readonly outputLimitField?: string;
}

/** Idle connections are closed before servers do it, so that no request meets a closing one. */
const IDLE_SOCKET_MS = 2_000;

/**
 * A provider over HTTP. The credential is set last, over anything an agent sent, goes to this host
 * only (redirects are refused), and is in no error. Throws `BenchError` (`config`) for a base URL that
 * is none.
 */
export function createHttpUpstream(options: HttpUpstreamOptions): ModelUpstream {
  const base = parseBase(options.baseUrl);
  const library = base.protocol === "https:" ? https : http;
  const agent = new library.Agent({ keepAlive: true, timeout: IDLE_SOCKET_MS });
  return {
    provider: options.provider,
    protocol: options.protocol,
    agentProtocol: options.agentProtocol ?? options.protocol,
    outputLimitField: options.outputLimitField ?? "max_tokens",
    async send(call) {
      const { header, value, also = {} } = await options.credential(call);
      const path = callPath(base, options.protocol, call);
      const headers = {
        ...withAlso(call.headers, also),
        [header.toLowerCase()]: value,
        "content-length": String(call.body.length),
      };
      const message = await request(call, (onAnswer) =>
        library.request(
          { ...target(base), path, method: "POST", headers, agent, signal: call.signal },
          onAnswer,
        ),
      );
      return replyOf(message, call.signal);
    },
    close: () => agent.destroy(),
  };
}

function withAlso(
  sent: Readonly<Record<string, string>>,
  also: Readonly<Record<string, string>>,
): Record<string, string> {
  const betas = [sent[BETAS], also[BETAS]].flatMap((list) => (list === undefined ? [] : [list]));
  return { ...sent, ...also, ...(betas.length === 0 ? {} : { [BETAS]: betas.join(",") }) };
}

const BETAS = "anthropic-beta";

function parseBase(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const isPlain = url?.username === "" && url.password === "" && url.hash === "";
  if (url !== null && isPlain && /^https?:$/u.test(url.protocol)) return url;
  throw new BenchError("config", "a provider's base URL is no http or https URL", {
    next: "give scheme, host and path, without a user, a password or a fragment",
  });
}

function target(base: URL): { hostname: string; port: string } {
  // URL keeps the brackets of an IPv6 address, request options want it without.
  return { hostname: base.hostname.replace(/^\[(.*)\]$/u, "$1"), port: base.port };
}

function callPath(base: URL, protocol: ModelProtocol, call: UpstreamCall): string {
  const prefix = base.pathname.replace(/\/+$/u, "");
  const parameters = new URLSearchParams(base.search);
  for (const [name, value] of call.query) parameters.set(name, value);
  const search = parameters.size > 0 ? `?${parameters.toString()}` : "";
  return prefix + pathOf(protocol, call) + search;
}

function pathOf(protocol: ModelProtocol, call: UpstreamCall): string {
  switch (protocol) {
    case "anthropic-messages":
      return "/v1/messages";
    case "openai-completions":
      return "/chat/completions";
    case "openai-responses":
      return "/responses";
    case "gemini": {
      const action = call.stream ? "streamGenerateContent" : "generateContent";
      return `/models/${encodeURIComponent(call.model)}:${action}`;
    }
  }
}

/** Sends the body and waits for the head of the answer. */
function request(
  call: UpstreamCall,
  open: (onAnswer: (message: IncomingMessage) => void) => http.ClientRequest,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let isConnected = false;
    const outgoing = open(resolve);
    outgoing.on("socket", (socket) => {
      if (!socket.connecting) isConnected = true;
      else
        socket.once("connect", () => {
          isConnected = true;
        });
    });
    outgoing.on("error", (thrown: NodeJS.ErrnoException) => {
      if (call.signal.aborted) {
        reject(call.signal.reason);
        return;
      }
      const failure = isConnected && !isTlsRefusal(thrown) ? "lost" : "unsent";
      const what = failure === "lost" ? "no answer from the provider" : "cannot reach the provider";
      reject(new UpstreamError(failure, `${what} (${thrown.code ?? "connection failed"})`));
    });
    outgoing.end(call.body);
  });
}

/** The handshake failed, so nothing of the request has left this machine. */
function isTlsRefusal(thrown: NodeJS.ErrnoException): boolean {
  return /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/u.test(thrown.code ?? "");
}

function replyOf(message: IncomingMessage, signal: AbortSignal): UpstreamReply {
  const status = message.statusCode ?? 0;
  if (status < 200 || (status >= 300 && status < 400)) {
    message.destroy();
    throw new UpstreamError("odd-answer", `the provider answered ${status}, which is no answer`);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(message.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  const body = decodedBody(message, headers["content-encoding"] ?? "identity");
  delete headers["content-encoding"];
  return { status, headers, body: chunksOf(message, body, signal) };
}

/** We ask for no encoding; a provider that sends one all the same is decoded here. */
function decodedBody(message: IncomingMessage, encoding: string): Readable {
  switch (encoding.trim().toLowerCase()) {
    case "":
    case "identity":
      return message;
    case "gzip":
    case "x-gzip":
      return message.pipe(createGunzip());
    case "deflate":
      return message.pipe(createInflate());
    case "br":
      return message.pipe(createBrotliDecompress());
    default:
      message.destroy();
      throw new UpstreamError("odd-answer", `the provider answered in encoding ${encoding}`);
  }
}

/** Listens from the start: a connection may break before anyone reads. */
function chunksOf(message: IncomingMessage, body: Readable, signal: AbortSignal): ByteStream {
  message.on("error", () => {
    // The close below tells; unhandled it would end the process.
  });
  message.on("close", () => {
    if (!message.complete) body.destroy(new UpstreamError("lost", "the answer broke off"));
  });
  return readChunks(message, body, signal);
}

async function* readChunks(
  message: IncomingMessage,
  body: Readable,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) if (chunk instanceof Uint8Array) yield chunk;
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    throw new UpstreamError("lost", "the provider's answer broke off", { cause: thrown });
  } finally {
    message.destroy();
  }
}
