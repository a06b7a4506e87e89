import { calcPrice } from "@pydantic/genai-prices";
import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { NO_TOKENS, promptTokens } from "../../../core/model/usage-buckets.ts";
import type { PriceTable } from "../../../core/ports/price-table.ts";
import { priceProvider } from "../../../core/usage/price-provider.ts";
import { isFree, priceBound, priceTokens } from "../../../core/usage/price-tokens.ts";
import { loadGenaiPrices } from "../../../runner/proxy/genai-prices.ts";

let prices: PriceTable;
beforeAll(async () => {
  prices = await loadGenaiPrices();
});

const AT = new Date("2026-11-30T12:00:00Z");
const MODELS = [
  ["anthropic", "claude-sonnet-4-5"],
  ["anthropic", "claude-sonnet-5"],
  ["anthropic", "claude-opus-4-6"],
  ["anthropic", "claude-haiku-4-5-20251001"],
  ["openai", "gpt-5.5"],
  ["openai", "gpt-5.6-luna"],
  ["gemini", "gemini-2.5-pro"],
  ["gemini", "gemini-3.7-flash"],
  ["deepseek", "deepseek-v4-flash"],
  ["deepseek", "deepseek-reasoner"],
  ["glm", "glm-5"],
  ["kimi", "kimi-k3"],
  ["minimax", "MiniMax-M3"],
  ["openrouter", "xiaomi/mimo-v2.5"],
] as const;

const count = fc.nat(400_000);

test("our integer sums agree with the list's own for every bucket, tier and hour", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...MODELS),
      fc.record({
        input: count,
        output: count,
        cacheRead: count,
        cacheWrite5m: count,
        cacheWrite1h: count,
      }),
      fc.date({ min: new Date("2026-09-01"), max: new Date("2027-02-01"), noInvalidDate: true }),
      ([provider, model], used, at) => {
        const card = prices.find({ provider, model, at });
        if (card === null) throw new Error(`${provider}/${model} has no price`);
        // The list bills 1 h writes apart for Anthropic alone.
        const tokens = provider === "anthropic" ? used : { ...used, cacheWrite1h: 0 };
        const listed = calcPrice(
          {
            input_tokens: promptTokens(tokens),
            output_tokens: tokens.output,
            cache_read_tokens: tokens.cacheRead,
            cache_write_tokens: tokens.cacheWrite5m + tokens.cacheWrite1h,
            cache_write_1h_tokens: tokens.cacheWrite1h,
          },
          model,
          { providerId: priceProvider(provider)?.id ?? "", timestamp: at },
        );
        const micro = (listed?.total_price ?? Number.NaN) * 1e6;
        const ours = priceTokens(card, tokens);
        expect(ours).toBeGreaterThanOrEqual(micro - 1e-3);
        expect(ours).toBeLessThan(micro + 1 + 1e-3);
        const bound = { input: promptTokens(tokens), output: tokens.output };
        expect(ours).toBeLessThanOrEqual(priceBound(card, bound));
      },
    ),
    { numRuns: 400 },
  );
});

test("the noted cases hold: 1 h writes, cached reads, the long context tier, 272,000", () => {
  const sonnet = prices.find({ provider: "anthropic", model: "claude-sonnet-4-5", at: AT });
  const gpt = prices.find({ provider: "openai", model: "gpt-5.5", at: AT });
  if (sonnet === null || gpt === null) throw new Error("no price");
  expect(priceTokens(sonnet, { ...NO_TOKENS, cacheWrite1h: 100_000 })).toBe(600_000);
  expect(priceTokens(sonnet, { ...NO_TOKENS, input: 100_000, cacheRead: 900_000 })).toBe(1_140_000);
  expect(priceTokens(gpt, { ...NO_TOKENS, input: 271_999 })).toBe(1_359_995);
  expect(priceTokens(gpt, { ...NO_TOKENS, input: 272_000 })).toBe(2_720_000);
});

test("the bound takes the dearest hour of the day", () => {
  const offPeak = prices.find({ provider: "deepseek", model: "deepseek-v4-flash", at: AT });
  if (offPeak === null) throw new Error("no price");
  expect(priceTokens(offPeak, { ...NO_TOKENS, input: 1_000_000 })).toBe(220_000);
  expect(priceBound(offPeak, { input: 1_000_000, output: 0 })).toBe(440_000);
});

test("the bound takes a price that starts within the day", () => {
  const query = { provider: "gemini", model: "gemini-3.7-flash" };
  const bound = (at: string): number => {
    const card = prices.find({ ...query, at: new Date(at) });
    return card === null ? Number.NaN : priceBound(card, { input: 1_000_000, output: 0 });
  };
  expect(bound("2026-12-30T12:00:00Z")).toBe(750_000);
  expect(bound("2026-12-31T12:00:00Z")).toBe(1_500_000);
});

test.each([
  ["xiaomi", "mimo-v2.6-flash"],
  ["openrouter", "xiaomi/mimo-v2.6-flash"],
  ["qwen-dashscope", "qwen3-coder"],
  ["zai", "glm-5"],
  ["github-models", "gpt-5"],
  ["foo", "bar"],
  ["__proto__", "gpt-5"],
  ["openai", "no-such-model"],
  ["openai", "whisper-1"],
])("%s/%s has no price, which is not a price of zero", (provider, model) => {
  expect(prices.find({ provider, model, at: AT })).toBeNull();
});

test("a card says where its price is from, which model of the list matched, and what is unsure", () => {
  const card = prices.find({ provider: "us-openai", model: "gpt-5.5", at: AT });
  expect(card).toMatchObject({ source: "genai-prices@0.1.8", provider: "us-openai" });
  expect(card?.caveats).toEqual(["the surcharge of the US region is not included"]);
  const routed = prices.find({
    provider: "openrouter",
    model: "anthropic/claude-sonnet-4.5",
    at: AT,
  });
  expect(routed?.caveats).toEqual(["no price for 1 h cache writes: billed at twice the input"]);
});

test("OpenRouter's free models have a card of zeros, others without a price have none", () => {
  const free = prices.find({ provider: "openrouter", model: "deepseek-chat:free", at: AT });
  expect(free === null ? null : isFree(free)).toBe(true);
  expect(free?.caveats).toEqual(["free by its name: the list gives no price"]);
});
