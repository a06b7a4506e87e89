import type { IncomingHttpHeaders } from "node:http";
import type { ModelProtocol } from "../../core/model/exchange.ts";
import type { Fault } from "../../core/model/model-script.ts";

/** One request as the scripted server saw it. */
export interface ScriptRequest {
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  bodyBytes: number;
  body: unknown;
  protocol: ModelProtocol | null;
  /** A request with a shell tool is the agent's work, any other a side request. */
  kind: "main" | "side" | "other";
  turn: number | null;
  fault: Fault["kind"] | null;
  status: number | null;
  /** The client went away before its answer's end. */
  aborted: boolean;
  ended: boolean;
}
