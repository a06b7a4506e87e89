import * as z from "zod";
import { BenchError } from "../errors.ts";
import { PriceFile } from "../model/usage-price-file.ts";
import type { PriceCard } from "../model/usage-price.ts";
import type { PriceTable } from "../ports/price-table.ts";
import { assumesLongWrites, bucketRates, nanoUsd } from "./bucket-rates.ts";
import { parseJson } from "./json-view.ts";

type FileEntry = PriceFile["prices"][string];
type Listed = Pick<
  FileEntry,
  "input" | "output" | "cache_read" | "cache_write_5m" | "cache_write_1h"
>;

/**
 * The user's own prices out of a JSON file's text. `name` is what results give as the source. Throws
 * `BenchError` (`config`) naming the field when the file is not a price file.
 */
export function parsePriceFile(text: string, name: string): PriceTable {
  const next = "see docs/proxy.md for the shape of a price file";
  const json = parseJson(text);
  if (json === undefined) throw new BenchError("config", `${name} is not JSON`, { next });
  const parsed = PriceFile.safeParse(json);
  if (!parsed.success)
    throw new BenchError("config", `${name}: ${z.prettifyError(parsed.error)}`, { next });
  return priceTableOf(parsed.data, name);
}

/** The same of a file that was read already. */
export function priceTableOf(file: PriceFile, name: string): PriceTable {
  const cards = new Map(
    Object.entries(file.prices).map(([key, entry]) => [key, cardOf(key, entry, { file, name })]),
  );
  return { find: ({ provider, model }) => cards.get(`${provider}/${model}`) ?? null };
}

/** Asks the tables in order; the first that knows a model prices it. */
export function firstPriceOf(tables: readonly PriceTable[]): PriceTable {
  return {
    find(query) {
      for (const table of tables) {
        const card = table.find(query);
        if (card !== null) return card;
      }
      return null;
    },
  };
}

function cardOf(
  key: string,
  entry: FileEntry,
  { file, name }: { readonly file: PriceFile; readonly name: string },
): PriceCard {
  const slash = key.indexOf("/");
  if (slash < 1)
    throw new BenchError("config", `${name}: ${key} has no provider`, {
      next: "name the model as it is given to -m, for example xiaomi/mimo-v2.6-flash",
    });
  return {
    provider: key.slice(0, slash),
    model: key.slice(slash + 1),
    source: `file:${name}`,
    date: file.date,
    urls: [file.source],
    now: {
      base: bucketRates(listedOf(entry)),
      tiers: entry.above.map((tier) => ({
        above: tier.input_tokens,
        rates: bucketRates(listedOf(tier)),
      })),
    },
    soon: [],
    perCall: nanoUsd(entry.per_call_usd),
    contextTokens: entry.context_tokens,
    maxOutputTokens: entry.max_output_tokens,
    caveats: assumesLongWrites(listedOf(entry))
      ? ["no price for 1 h cache writes: billed at twice the input"]
      : [],
  };
}

function listedOf(prices: Listed): Parameters<typeof bucketRates>[0] {
  return {
    input: prices.input,
    output: prices.output,
    cacheRead: prices.cache_read,
    cacheWrite5m: prices.cache_write_5m,
    cacheWrite1h: prices.cache_write_1h,
  };
}
