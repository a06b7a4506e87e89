import type { PriceCard } from "../model/usage-price.ts";

export interface PriceQuery {
  /** Our prefix, for example `xiaomi`. */
  readonly provider: string;
  /** The model's name without the prefix. */
  readonly model: string;
  /** When the call starts: some prices change by date and by hour. */
  readonly at: Date;
}

/** A list of prices. Null means that the price is unknown, which is never the same as free. */
export interface PriceTable {
  find(query: PriceQuery): PriceCard | null;
}
