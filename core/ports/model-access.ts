import type { LoginKind } from "../model/agent-definition.ts";
import type { Diagnostics } from "../model/diagnostics.ts";
import type { ModelProtocol } from "../model/exchange.ts";
import type { ModelCalls } from "../model/model-calls.ts";
import type { AgentError } from "../model/outcome.ts";
import type { Usage } from "../model/record.ts";
import type { AttemptSpec } from "../model/trial.ts";
import type { AttemptFolder } from "./attempt-folder.ts";
import type { Sandbox } from "./sandbox.ts";
import type { SpendEnd } from "./spend-gate.ts";

/** What an agent asks of its models, known before anything is created. */
export interface ModelNeeds {
  /** The dialects that it can speak, best first; the first that can be served is used. */
  readonly protocols: readonly [ModelProtocol, ...ModelProtocol[]];
  /** Model names that it sends on its own account beside the one it was given, for side requests. */
  readonly aliases: readonly string[];
  /** The subscription that its requests may be paid by; absent or null for none. */
  readonly login?: LoginKind | null;
}

export interface ModelAccessRequest {
  readonly spec: AttemptSpec;
  /** Set up, with nothing of the agent running yet. */
  readonly sandbox: Sandbox;
  /** The user of the agent's processes; whatever relays calls inside runs as another one. */
  readonly agentUid: number;
  /** A Node 22 inside the sandbox that nobody there can change; null where the agent brings none. */
  readonly nodePath: string | null;
  readonly needs: ModelNeeds;
  readonly folder: AttemptFolder;
  /** The person's stop, or the trial's deadline. */
  readonly signal: AbortSignal;
}

/**
 * One trial's way to its models: an address inside its sandbox and a token that is worth nothing
 * elsewhere (design 7). Nothing in it is a provider's but `hidden`, which goes to no sandbox.
 */
export interface OpenModels {
  /** The dialect that was chosen of the agent's. */
  readonly protocol: ModelProtocol;
  /**
   * As seen from inside the sandbox, without a path and without a slash at its end, for example
   * `http://127.0.0.1:4017`. Agents that speak `openai-completions` or `openai-responses` take
   * `${origin}/v1` as their base, those that speak `anthropic-messages` or `gemini` the origin.
   */
  readonly origin: string;
  /** Taken as bearer token, `x-api-key`, `x-goog-api-key`, `api-key` or `?key=`. */
  readonly token: string;
  /**
   * What no record of the trial may hold, should a provider say its key back; `later` may grow. Absent
   * where there is no key.
   */
  readonly hidden?: { readonly secrets: readonly string[]; readonly later: readonly string[] };
  /** The name under which the agent must ask for the run's model. */
  readonly model: string;
  /** What the model can hold; null where nobody says. Some agents want it in their configuration. */
  readonly contextTokens: number | null;
  readonly maxOutputTokens: number | null;
  /**
   * How long requests have been held back so far, for the pot or between tries, the ones held now
   * included: an agent's limits stand still for that time (attack 7).
   */
  heldMs(): number;
  /** Why nothing is served any more; null while requests are. An agent whose models are gone is stopped. */
  stopped(): { readonly message: string } | null;
  /**
   * Whether the provider or the network failed and nothing has succeeded since: an agent that ended its
   * turn on that is asked nothing more. Absent where nobody keeps a record.
   */
  isFailing?(): boolean;
  /** Refuses everything from now on and breaks off what is in flight: the agent is being stopped. */
  stop(message: string): void;
  /**
   * Called once the agent's processes are proven gone, since agents ask after their turn has ended.
   * Waits for the last settlements, takes the address away, and says what it came to. Idempotent.
   */
  close(): Promise<ModelUse>;
}

/** What the models' side knows of a trial that has ended. */
export interface ModelUse {
  readonly usage: Usage;
  readonly calls: ModelCalls;
  readonly end: ModelEnd;
}

/**
 * Whether the models were at fault (attack 7, 8): decided from the record of requests, never from what
 * the agent said, since several agents end a failed turn with `end_turn`.
 */
export type ModelEnd =
  | { readonly kind: "sound" }
  /** The provider or the network failed, and no main request succeeded after that. */
  | {
      readonly kind: "failed";
      readonly error: AgentError;
      readonly info: Diagnostics["api_error_info"];
    }
  /** The agent ended on requests of its own that were wrong; its work is graded, tagged with this. */
  | { readonly kind: "rejected"; readonly error: AgentError }
  /** Nothing more may be spent: the trial was cut off. */
  | { readonly kind: SpendEnd; readonly message: string }
  /** A limit that the user set for each trial; the work is graded. */
  | { readonly kind: "trial-limit"; readonly message: string };

/** Opens models for trials: proxy, provider, key and pot behind one door. */
export interface ModelAccess {
  /** Throws `SandboxError` when the sandbox cannot be given a way to the models. */
  open(request: ModelAccessRequest): Promise<OpenModels>;
}
