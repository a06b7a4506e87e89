import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ModelProtocol } from "../../core/model/exchange.ts";
import { errorEvent, errorReply } from "./error-reply.ts";
import type { ProxyError } from "./error-reply.ts";
import { untilDrained } from "./until-drained.ts";

const EVENT_STREAM = "text/event-stream; charset=utf-8";

/**
 * The agent's side of one request. Writes wait for a slow reader, and end quietly when it is gone. A
 * heartbeat commits the status to 200; what comes later is then told within the stream.
 */
export class AgentResponse {
  readonly #response: ServerResponse;
  #bytes = 0;

  constructor(response: ServerResponse, onGone: () => void) {
    this.#response = response;
    response.on("close", () => {
      if (!response.writableEnded) onGone();
    });
    response.on("error", onGone);
  }

  get isCommitted(): boolean {
    return this.#response.headersSent;
  }

  get isGone(): boolean {
    return this.#response.destroyed;
  }

  /** The status that the agent saw; null while it has seen none. */
  get status(): number | null {
    return this.#response.headersSent ? this.#response.statusCode : null;
  }

  get bytes(): number {
    return this.#bytes;
  }

  head(status: number, headers: OutgoingHttpHeaders): void {
    if (!this.isCommitted && !this.isGone) this.#response.writeHead(status, headers);
  }

  /** Tells a waiting stream that there will be an answer. */
  heartbeat(protocol: ModelProtocol): void {
    if (this.isGone) return;
    this.head(200, { "content-type": EVENT_STREAM, "cache-control": "no-cache" });
    const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
    this.#response.write(protocol === "anthropic-messages" ? ping : ": waiting\n\n");
  }

  /** Resolves when the reader wants more, or is gone. */
  async write(chunk: Uint8Array | string): Promise<void> {
    if (this.isGone) return;
    this.#bytes += chunk.length;
    if (!this.#response.write(chunk)) await untilDrained(this.#response);
  }

  /** A whole answer. */
  send(status: number, headers: OutgoingHttpHeaders, body: string | Uint8Array): void {
    if (this.isGone) return;
    this.#bytes += body.length;
    if (!this.isCommitted)
      this.#response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
    this.#response.end(body);
  }

  sendJson(status: number, body: unknown, headers: OutgoingHttpHeaders = {}): void {
    const type = { "content-type": "application/json" };
    this.send(status, { ...headers, ...type }, JSON.stringify(body));
  }

  /** An error of ours, within the stream if that has begun. */
  sendError(protocol: ModelProtocol, error: ProxyError, headers: OutgoingHttpHeaders = {}): void {
    if (this.isCommitted) this.send(200, {}, errorEvent(protocol, error));
    else this.sendJson(error.status, errorReply(protocol, error), headers);
  }

  end(): void {
    if (!this.isGone) this.#response.end();
  }

  /** Breaks the connection, so that nobody takes what came for a whole answer. */
  cut(): void {
    this.#response.destroy();
  }
}
