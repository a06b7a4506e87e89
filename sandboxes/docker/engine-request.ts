import { type ClientRequest, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import type { EngineEndpoint } from "./engine-endpoint.ts";

/** A request that only asks or switches something: longer means that the daemon hangs. */
const CALL_TIMEOUT_MS = 120_000;

export interface EngineRequest {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it flows; a slow daemon holds the source back. */
  readonly body?: ByteStream;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** null for answers that may take as long as they like, such as builds. */
  readonly timeoutMs?: number | null;
}

/** Opens the connection and writes the head; the caller ends the request or sends its body. */
export function openRequest(
  endpoint: EngineEndpoint,
  method: string,
  path: string,
  { query = {}, json, body, headers: extra, signal, timeoutMs }: EngineRequest,
): ClientRequest {
  const headers: Record<string, string> = { ...extra };
  if (json !== undefined) headers["content-type"] = "application/json";
  if (body !== undefined) headers["content-type"] = "application/x-tar";
  const request = send(endpoint, { method, path: path + encodeQuery(query), headers });
  limitRequest(request, signal, timeoutMs);
  return request;
}

interface Sending {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

function send(endpoint: EngineEndpoint, sending: Sending): ClientRequest {
  if (endpoint.kind === "unix")
    return httpRequest({ ...sending, socketPath: endpoint.socketPath, host: "docker" });
  const { host, port, tls } = endpoint;
  if (tls === null) return httpRequest({ ...sending, host, port });
  return httpsRequest({
    ...sending,
    host,
    port,
    rejectUnauthorized: tls.verify,
    ...(tls.ca === null ? {} : { ca: tls.ca }),
    ...(tls.cert === null ? {} : { cert: tls.cert }),
    ...(tls.key === null ? {} : { key: tls.key }),
  });
}

/** Ends a request on abort and after its time; a raw stream has been handed over and has no limit. */
function limitRequest(
  request: ClientRequest,
  signal: AbortSignal | undefined,
  timeoutMs: number | null = CALL_TIMEOUT_MS,
): void {
  const abort = (): void => {
    request.destroy(signal === undefined ? undefined : asError(signal.reason));
  };
  const timer =
    timeoutMs === null
      ? undefined
      : setTimeout(() => {
          request.destroy(new Error(`no answer within ${String(timeoutMs / 1000)} s`));
        }, timeoutMs);
  const release = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  };
  request.once("close", release);
  request.once("upgrade", release);
  signal?.addEventListener("abort", abort);
  if (signal?.aborted === true) abort();
}

/** The error that this side gave a request, an abort or a body whose source failed; null for the daemon's. */
export function ownFailure(request: ClientRequest, signal: AbortSignal | undefined): Error | null {
  if (signal?.aborted === true) return asError(signal.reason);
  return sourceFailures.get(request) ?? null;
}

const sourceFailures = new WeakMap<ClientRequest, Error>();

/** Sends a body as it flows. The error of its source is the request's error, not the daemon's. */
export async function sendBody(body: ByteStream, request: ClientRequest): Promise<void> {
  const guarded = async function* guardedBody(): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      sourceFailures.set(request, asError(error));
      throw error;
    }
  };
  try {
    await pipeline(Readable.from(guarded(), { objectMode: false }), request);
  } catch (error) {
    request.destroy(asError(error));
  }
}

/** Anything can be thrown; streams want an Error, and the same one for the same cause. */
function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function encodeQuery(query: NonNullable<EngineRequest["query"]>): string {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined) given.set(key, String(value));
  return given.size === 0 ? "" : `?${given.toString()}`;
}
