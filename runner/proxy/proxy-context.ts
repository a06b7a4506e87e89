import type { ModelProtocol } from "../../core/model/exchange.ts";
import type { ModelUpstream } from "../../core/ports/model-upstream.ts";
import type { CallMemory } from "../translation/call-memory.ts";
import type { ProxyLimits, ProxyOptions } from "./proxy-options.ts";
import type { ProxyState } from "./proxy-state.ts";
import type { Redactor } from "./redact/redactor.ts";
import type { tokenCheck } from "./trial-token.ts";

/** Everything that serving a request needs, made once for each proxy. */
export interface ProxyContext extends Pick<
  ProxyOptions,
  "models" | "modelLimits" | "maxOutputTokens" | "prices" | "gate" | "sink" | "clock"
> {
  readonly limits: ProxyLimits;
  /** By the protocol of the agents that each serves. */
  readonly upstreams: ReadonlyMap<ModelProtocol, ModelUpstream>;
  /** What translations keep of the trial's earlier replies. */
  readonly callMemory: CallMemory;
  readonly state: ProxyState;
  readonly redactor: Redactor;
  readonly isTrial: ReturnType<typeof tokenCheck>;
}
