import type { ModelProtocol } from "../model/exchange.ts";
import type { ByteStream } from "./sandbox.ts";

/** One model call on its way to a provider. Headers are allow-listed and hold no credentials. */
export interface UpstreamCall {
  /** The provider's own name for the model. */
  readonly model: string;
  readonly stream: boolean;
  /** Query parameters that the agent sent and that may pass. */
  readonly query: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

export interface UpstreamReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded: no content-encoding is left. Leaving the loop early ends the connection. */
  readonly body: ByteStream;
}

/**
 * `unsent`: the provider never got the request, so nothing can be billed. `lost`: it was sent and no
 * answer came. `odd-answer`: one that no provider gives, a redirect or an unknown encoding.
 */
export type UpstreamFailure = "unsent" | "lost" | "odd-answer";

/** The only error that leaves an upstream, beside the signal's own reason. Holds no credentials. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.failure = failure;
  }
}

/** A provider in one protocol, with the credentials that nobody else holds. */
export interface ModelUpstream {
  /** Our prefix, for prices, for example `xiaomi`. */
  readonly provider: string;
  readonly protocol: ModelProtocol;
  /** What the agents that it serves speak, where that is translated; its own protocol where absent. */
  readonly agentProtocol?: ModelProtocol;
  /** The body field that limits the answer where the agent sends none (Chat Completions has two). */
  readonly outputLimitField: string;
  /** Resolves with the head of the answer, whatever its status. Throws `UpstreamError`. */
  send(call: UpstreamCall): Promise<UpstreamReply>;
  close(): void;
}

/** What the agents of an upstream speak. */
export function agentProtocolOf(upstream: ModelUpstream): ModelProtocol {
  return upstream.agentProtocol ?? upstream.protocol;
}
