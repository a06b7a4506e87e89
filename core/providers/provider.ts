import type { ModelProtocol } from "../model/exchange.ts";

/** How a provider wants to see its key. */
export type KeyHeader = "bearer" | "x-api-key" | "x-goog-api-key" | "api-key";

/** One dialect that a provider speaks, and where. */
export interface ProviderEndpoint {
  readonly protocol: ModelProtocol;
  /**
   * What stands before the protocol's own path. A text that begins with `/` is a path on the origin of
   * the provider's first base URL, so that a key never goes to a host that nobody named; null: the
   * same as the first. A person's own provider has whole addresses.
   */
  readonly baseUrl: string | null;
  readonly keyHeader: KeyHeader;
  /** The body field that limits an answer where the agent sends none. */
  readonly outputLimitField: string;
}

/** That field, where a provider has no other one of its own. */
export const OUTPUT_LIMIT_FIELDS: Readonly<Record<ModelProtocol, string>> = {
  "anthropic-messages": "max_tokens",
  "openai-completions": "max_tokens",
  "openai-responses": "max_output_tokens",
  gemini: "maxOutputTokens",
};

/** A model provider as its prefix names it (spec 9.2): data, read by `resolveModel`. */
export interface Provider {
  readonly prefix: string;
  /** Families of bare model names that are its own: `glm-4.6` is glm's. */
  readonly families: readonly string[];
  /** The variable that holds the key, the first that is set. */
  readonly keyNames: readonly [string, ...string[]];
  /** Where a server may need no key, `-` stands for it. */
  readonly keyIsOptional: boolean;
  /** The variable that replaces the base URL; null where there is none. */
  readonly baseUrlName: string | null;
  /** Of the first endpoint; null: the variable has to be set. */
  readonly baseUrl: string | null;
  /** Best first. */
  readonly endpoints: readonly [ProviderEndpoint, ...ProviderEndpoint[]];
  /** Of a provider of the person's own the models that it lists, none for any; null for all others. */
  readonly models: readonly string[] | null;
  /** Why it cannot be used in this edition; null for one that can. */
  readonly unbuilt: string | null;
}
