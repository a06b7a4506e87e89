import type { ModelInfo, ModelPrice, TieredPrices, calcPrice } from "@pydantic/genai-prices";
import type { PriceCard, RateTable } from "../../core/model/usage-price.ts";
import type { PriceQuery, PriceTable } from "../../core/ports/price-table.ts";
import { assumesLongWrites, bucketRates, nanoUsd } from "../../core/usage/bucket-rates.ts";
import type { ListedPrices } from "../../core/usage/bucket-rates.ts";
import { priceProvider } from "../../core/usage/price-provider.ts";

const SOURCE = "genai-prices@0.1.8";
const DAY_MS = 86_400_000;

interface Library {
  readonly calcPrice: typeof calcPrice;
}

/**
 * The list prices of the package @pydantic/genai-prices, as bundled: nothing is fetched. Imported here
 * and not before, since it takes 40 ms. A model that it does not know, or knows without a price for
 * input and output tokens, has no card.
 */
export async function loadGenaiPrices(): Promise<PriceTable> {
  const library = await import("@pydantic/genai-prices");
  return { find: (query) => findCard(library, query) };
}

function findCard(library: Library, query: PriceQuery): PriceCard | null {
  const known = priceProvider(query.provider);
  if (known === null) return null;
  const options = { providerId: known.id, timestamp: query.at };
  // Any usage will do: only the prices that were chosen are taken, our own sums are exact.
  const found = library.calcPrice({ input_tokens: 1 }, query.model, options);
  if (found === null) return null;
  const isFree = isFreeListing(query, found.model_price);
  const base = isFree ? FREE : listedAt(found.model_price, 0);
  if (base === null) return null;
  const soon = pricesWithinADay(found.model, query.at).flatMap(tableOf);
  return {
    provider: query.provider,
    model: found.model.id,
    source: SOURCE,
    date: null,
    urls: [...(found.provider.pricing_urls ?? [])],
    now: { base: bucketRates(base), tiers: tiersOf(found.model_price) },
    soon,
    perCall: nanoUsd(flatPrice(found.model_price, "requests_kcount") / 1000),
    contextTokens: found.model.context_window ?? null,
    maxOutputTokens: null,
    caveats: [
      ...known.caveats,
      ...(isFree ? ["free by its name: the list gives no price"] : []),
      ...(assumesLongWrites(base)
        ? ["no price for 1 h cache writes: billed at twice the input"]
        : []),
    ],
  };
}

const FREE: ListedPrices = { input: 0, output: 0 };

/** OpenRouter's free models stand in the list without any price. */
function isFreeListing({ provider, model }: PriceQuery, prices: ModelPrice): boolean {
  return provider === "openrouter" && model.endsWith(":free") && Object.keys(prices).length === 0;
}

/** Every table that some moment of the next day may choose: by hour, or by a date within it. */
function pricesWithinADay(model: ModelInfo, at: Date): ModelPrice[] {
  if (!Array.isArray(model.prices)) return [];
  return model.prices
    .filter(({ constraint }) => {
      if (constraint === undefined) return false;
      if (constraint.type === "time_of_date") return true;
      const startMs = Date.parse(constraint.start_date) - at.getTime();
      return startMs > 0 && startMs <= DAY_MS;
    })
    .map(({ prices }) => prices);
}

function tableOf(prices: ModelPrice): RateTable[] {
  const base = listedAt(prices, 0);
  return base === null ? [] : [{ base: bucketRates(base), tiers: tiersOf(prices) }];
}

/** One tier for each prompt length at which any of the prices changes. */
function tiersOf(prices: ModelPrice): RateTable["tiers"] {
  const starts = new Set<number>();
  for (const price of Object.values(prices))
    if (isTiered(price)) for (const tier of price.tiers) starts.add(tier.start);
  return [...starts]
    .toSorted((left, right) => left - right)
    .flatMap((above) => {
      const listed = listedAt(prices, above + 1);
      return listed === null ? [] : [{ above, rates: bucketRates(listed) }];
    });
}

/** Prices for a prompt of that length; null without one for input or output. */
function listedAt(prices: ModelPrice, prompt: number): ListedPrices | null {
  const at = (key: string): number | undefined => priceAt(prices[key], prompt);
  const input = at("input_mtok");
  const output = at("output_mtok");
  if (input === undefined || output === undefined) return null;
  return {
    input,
    // Where reasoning has a price of its own, the dearer of the two bounds what it costs.
    output: Math.max(output, at("output_reasoning_mtok") ?? 0),
    cacheRead: at("cache_read_mtok"),
    cacheWrite5m: at("cache_write_mtok"),
    cacheWrite1h: at("cache_write_1h_mtok"),
  };
}

function priceAt(price: ModelPrice[string], prompt: number): number | undefined {
  if (!isTiered(price)) return price;
  let reached = { start: -1, price: price.base };
  for (const tier of price.tiers)
    if (prompt > tier.start && tier.start > reached.start) reached = tier;
  return reached.price;
}

function flatPrice(prices: ModelPrice, key: string): number {
  const price = prices[key];
  return typeof price === "number" ? price : 0;
}

function isTiered(price: ModelPrice[string]): price is TieredPrices {
  return typeof price === "object";
}
