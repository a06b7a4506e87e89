import { type JsonRecord, numberOf } from "./json-view.ts";
import { CountRefusal } from "./token-counts.ts";

/**
 * Counts that a reply tells more than once. Each is the sum so far, so none ever falls: where one does,
 * nobody knows which figure will be billed, and taking the last one could make a dear call free.
 */
export class RisingCounts {
  readonly #least = new Map<string, number>();
  #fall: string | null = null;

  /** `least` is what later figures may not be under; null is a count that was not told. */
  tell(name: string, count: number | null, least: number | null = count): void {
    if (count === null) return;
    const before = this.#least.get(name) ?? 0;
    if (count < before) this.#fall ??= `${name} fell from ${before} to ${count}`;
    this.#least.set(name, Math.max(before, least ?? 0));
  }

  /** The same for fields of a usage object, each under its own name. */
  tellFields(usage: JsonRecord, fields: readonly string[]): void {
    for (const field of fields) this.tell(field, numberOf(usage[field]));
  }

  /** What was made of the counts. Throws `CountRefusal` once any of them fell. */
  checked<Tokens>(tokens: Tokens): Tokens {
    if (this.#fall !== null) throw new CountRefusal("count-fell", this.#fall);
    return tokens;
  }
}
