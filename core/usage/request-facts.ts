import type { Sampling } from "../model/exchange.ts";

/** Pictures that a request carries: their number, and the bytes that they take in its body. */
export interface ImageLoad {
  readonly count: number;
  readonly bytes: number;
}

/** All that the proxy needs to know of a request's body; read once, in one protocol. */
export interface RequestFacts {
  readonly model: string | null;
  readonly stream: boolean;
  readonly sampling: Sampling;
  /** How many answers are asked for; each may be as long as the limit. */
  readonly choices: number;
  /** The limit of output tokens as sent; null when the agent leaves it to the model. */
  readonly outputLimit: number | null;
  readonly tools: number;
  readonly messages: number;
  readonly hasMessages: boolean;
  readonly hasInput: boolean;
  readonly images: ImageLoad;
  /**
   * Why the cost cannot be bounded from the bytes: state that the provider holds, tools that it runs,
   * files by id, service tiers of unknown price (design 8). Empty for what agents send by default.
   */
  readonly unbounded: readonly string[];
  /** Other models that the provider may use instead of the one named. */
  readonly otherModels: readonly string[];
  /** Texts of the system prompt, and of the user's last message, block by block. */
  readonly systemTexts: readonly string[];
  readonly lastUserTexts: readonly string[];
  /** Property names of the JSON schema that the answer must have; null without one. */
  readonly answerKeys: readonly string[] | null;
}

/** Fields with a value that the provider would act on: neither absent nor null, false or empty. */
export function presentFields(
  body: Readonly<Record<string, unknown>>,
  names: readonly string[],
): string[] {
  return names.filter((name) => {
    const value = body[name];
    const isEmptyList = Array.isArray(value) && value.length === 0;
    return value !== undefined && value !== null && value !== false && !isEmptyList;
  });
}

/**
 * A count that two readers could take for different ones: no number, as servers that turn texts into
 * numbers accept, or told under several of its names. The names that are there.
 */
export function oddCount(
  body: Readonly<Record<string, unknown>>,
  names: readonly string[],
): string[] {
  const present = names.filter((name) => body[name] !== undefined && body[name] !== null);
  const isOdd = present.length > 1 || present.some((name) => typeof body[name] !== "number");
  return isOdd ? present : [];
}

/** A field whose value is not one of those known to cost the listed price. */
export function unlistedValue(
  body: Readonly<Record<string, unknown>>,
  field: string,
  listed: readonly string[],
): string[] {
  const value = body[field];
  if (value === undefined || value === null) return [];
  return typeof value === "string" && listed.includes(value)
    ? []
    : [`${field} ${JSON.stringify(value)}`];
}
