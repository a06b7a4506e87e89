import { isRecord } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import type { ConversationSampling } from "./conversation.ts";

/**
 * What a translation left out, for the request's row: hints and settings that the other protocol has no
 * words for. Each name once, however often it stands in the request.
 */
export class LeftOut {
  readonly #names = new Set<string>();

  add(name: string): void {
    this.#names.add(name);
  }

  names(): string[] {
    return [...this.#names].toSorted();
  }
}

/** Of protocols without a seed and without penalties: what was asked of them, 0 being no wish. */
export function leaveOutPenalties(
  { seed, presencePenalty, frequencyPenalty }: ConversationSampling,
  leftOut: LeftOut,
): void {
  const wishes = {
    seed,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
  };
  for (const [name, value] of Object.entries(wishes))
    if (value !== null && value !== 0) leftOut.add(name);
}

/** An object's fields, read one by one; what nobody has read is left out and told. */
export class FieldReader {
  readonly #fields: JsonRecord;
  readonly #taken = new Set<string>();

  constructor(value: unknown) {
    this.#fields = isRecord(value) ? value : {};
  }

  take(name: string): unknown {
    this.#taken.add(name);
    return this.#fields[name];
  }

  /** The first of several names of one field. */
  takeFirst(...names: readonly string[]): unknown {
    const values = names.map((name) => this.take(name));
    return values.find((value) => value !== undefined && value !== null);
  }

  /** Tells the fields that say something and that nobody has read. */
  tellRest(leftOut: LeftOut, prefix = ""): void {
    for (const [name, value] of Object.entries(this.#fields))
      if (!this.#taken.has(name) && !isEmpty(value)) leftOut.add(prefix + name);
  }
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isRecord(value)) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === false || value === "";
}
