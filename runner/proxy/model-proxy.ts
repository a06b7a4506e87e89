import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { BenchError, messageOf } from "../../core/errors.ts";
import { CallMemory } from "../translation/call-memory.ts";
import { agentProtocolOf } from "../../core/ports/model-upstream.ts";
import type { ProxyContext } from "./proxy-context.ts";
import { DEFAULT_LIMITS } from "./proxy-options.ts";
import type { ListenAt, ProxyOptions, StopReason } from "./proxy-options.ts";
import { ProxyState } from "./proxy-state.ts";
import type { ProxyTotals } from "./proxy-state.ts";
import { Redactor } from "./redact/redactor.ts";
import { serveRequest } from "./serve-request.ts";
import { newTrialToken, tokenCheck } from "./trial-token.ts";

/** A model proxy that serves one trial. */
export interface ModelProxy {
  /** Where it listens: an origin without a path for TCP, the socket's path otherwise. */
  readonly address: string;
  /** The trial's credential: all that goes into its sandbox. */
  readonly token: string;
  totals(): ProxyTotals;
  /** Why nothing is served any more; null while requests are. */
  stopped(): { readonly reason: StopReason; readonly message: string } | null;
  /** Refuses everything from now on and breaks off what is in flight. Calls in flight stay charged. */
  stop(reason: StopReason, message: string): void;
  /** Refuses everything from now on; what is in flight may end, so that its real figure is charged. */
  refuseMore(reason: StopReason, message: string): void;
  /** Stops, waits until every call is settled and recorded, and closes the listener. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a proxy between one trial's agent and its model provider (design 7). The agent's bytes reach
 * the provider as they are, under the provider's key that the agent never sees; every call is paid for
 * in advance, metered, and recorded. Throws `BenchError` (`unavailable`) when it cannot listen.
 */
export async function startModelProxy(options: ProxyOptions): Promise<ModelProxy> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const token = newTrialToken();
  const state = new ProxyState(limits, {
    monotonicMs: () => options.clock.monotonicMs(),
    onEvent: options.onEvent ?? ignoreEvent,
  });
  const context: ProxyContext = {
    ...options,
    limits,
    state,
    upstreams: new Map(options.upstreams.map((upstream) => [agentProtocolOf(upstream), upstream])),
    callMemory: new CallMemory(),
    redactor: new Redactor([...options.secrets, token], options.laterSecrets),
    isTrial: tokenCheck(token),
  };
  const active = new Set<Promise<void>>();
  const server = createTrialServer(limits.maxHeaderBytes, (request, response) => {
    const served = serveSafely(context, request, response);
    active.add(served);
    void served.then(() => active.delete(served));
  });
  const address = await listen(server, options.listen);
  const stop = (reason: StopReason, message: string): void => {
    state.stop(reason, message);
    for (const guard of state.live) guard.stop("stopped");
  };
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    stop("trial-ended", "the trial has ended");
    await Promise.all(active);
    await settledInTime(state, limits.settleMs);
    await closeServer(server);
    for (const upstream of options.upstreams) upstream.close();
  };
  return {
    address,
    token,
    totals: () => state.totals,
    stopped: () => state.stopped,
    stop,
    refuseMore: (reason, message) => {
      state.stop(reason, message);
    },
    close: () => (closing ??= close()),
  };
}

/** A ledger that never answers must not keep a trial from its end. */
async function settledInTime(state: ProxyState, ms: number): Promise<void> {
  const ended = new AbortController();
  const late = Symbol("late");
  const outcome = await Promise.race([
    state.settled(),
    delay(ms, late, { signal: ended.signal, ref: false }),
  ]);
  if (outcome === late)
    state.tell({ type: "anomaly", index: -1, message: "a settlement never ended" });
  else ended.abort();
}

function ignoreEvent(): void {}

/** A fault of ours must not end the runner: the request breaks, the trial stops, its caller is told. */
async function serveSafely(
  context: ProxyContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await serveRequest(context, request, response);
  } catch (thrown) {
    response.destroy();
    context.state.stop("proxy-failed", messageOf(thrown));
  }
}

const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 300_000;
const KEEP_ALIVE_MS = 60_000;
const MAX_CONNECTIONS = 256;
const MAX_HEADERS = 100;

function createTrialServer(
  maxHeaderSize: number,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createServer(
    {
      maxHeaderSize,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
      // Whatever two parsers could read differently is refused by the strict one.
      insecureHTTPParser: false,
    },
    onRequest,
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.maxHeadersCount = MAX_HEADERS;
  server.on("upgrade", (_request, socket) => refuseRaw(socket, "426 Upgrade Required"));
  server.on("connect", (_request, socket) => refuseRaw(socket, "405 Method Not Allowed"));
  server.on("clientError", (thrown: NodeJS.ErrnoException, socket) => {
    const isLong = thrown.code === "HPE_HEADER_OVERFLOW";
    refuseRaw(socket, isLong ? "431 Request Header Fields Too Large" : "400 Bad Request");
  });
  return server;
}

function refuseRaw(socket: Duplex, status: string): void {
  socket.on("error", () => {
    // The client is gone, which is all that was left to reach.
  });
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

async function listen(server: Server, at: ListenAt): Promise<string> {
  const target =
    at.kind === "unix"
      ? { path: at.path, readableAll: true, writableAll: true }
      : { host: at.host ?? "127.0.0.1", port: at.port ?? 0 };
  await new Promise<void>((resolve, reject) => {
    server.once("error", (thrown) => {
      reject(
        new BenchError("unavailable", `the model proxy cannot listen: ${thrown.message}`, {
          next: "free the address, or give a shorter path for the socket",
          cause: thrown,
        }),
      );
    });
    server.listen(target, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") return address ?? "";
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
