import { expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { NO_TOKENS } from "../../../core/model/usage-buckets.ts";
import { firstPriceOf, parsePriceFile } from "../../../core/usage/price-file.ts";
import { priceTokens } from "../../../core/usage/price-tokens.ts";

const AT = new Date("2026-11-30T12:00:00Z");

function fileWith(prices: unknown, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ version: 1, source: "contract 7", date: "2026-11-01", prices, ...more });
}

function messageOf(text: string): string {
  try {
    parsePriceFile(text, "prices.json");
  } catch (thrown) {
    if (thrown instanceof BenchError) return thrown.message;
    throw thrown;
  }
  return "accepted";
}

test("a price file prices exactly the models it names, and says where from", () => {
  const prices = parsePriceFile(
    fileWith({
      "xiaomi/mimo-v2.6-flash": {
        input: 0.1,
        output: 0.3,
        cache_read: 0.01,
        above: [{ input_tokens: 128_000, input: 0.2, output: 0.6 }],
        context_tokens: 262_144,
        max_output_tokens: 65_536,
      },
    }),
    "prices.json",
  );
  const card = prices.find({ provider: "xiaomi", model: "mimo-v2.6-flash", at: AT });
  expect(card).toMatchObject({
    source: "file:prices.json",
    date: "2026-11-01",
    urls: ["contract 7"],
    contextTokens: 262_144,
    maxOutputTokens: 65_536,
  });
  if (card === null) throw new Error("no card");
  expect(priceTokens(card, { ...NO_TOKENS, input: 100_000, cacheRead: 20_000 })).toBe(10_200);
  expect(priceTokens(card, { ...NO_TOKENS, input: 128_001 })).toBe(25_601);
  expect(prices.find({ provider: "xiaomi", model: "mimo-v2.6-flash-x", at: AT })).toBeNull();
  expect(prices.find({ provider: "constructor", model: "name", at: AT })).toBeNull();
});

test.each([
  ["no JSON", "{", "prices.json is not JSON"],
  ["no prices at all", fileWith({ "p/m": {} }), "prices.p/m.input"],
  ["no output price", fileWith({ "p/m": { input: 1 } }), "prices.p/m.output"],
  ["a misspelt price", fileWith({ "p/m": { input: 1, output: 1, cache_reed: 1 } }), "cache_reed"],
  ["a negative price", fileWith({ "p/m": { input: -1, output: 1 } }), "prices.p/m.input"],
  ["no provider", fileWith({ model: { input: 1, output: 1 } }), "model has no provider"],
  ["another version", fileWith({}, { version: 2 }), "version"],
  ["no source", fileWith({}, { source: "" }), "source"],
])("a file with %s is refused by name", (_what, text, part) => {
  const [path, ...rest] = part.split(".");
  const message = messageOf(text);
  expect(message).toMatch(/^prices\.json/u);
  expect(message).toContain(rest.length > 0 ? (rest.at(-1) ?? "") : (path ?? ""));
});

test("the first table that knows a model prices it", () => {
  const mine = parsePriceFile(fileWith({ "p/m": { input: 1, output: 1 } }), "mine");
  const other = parsePriceFile(
    fileWith({ "p/m": { input: 2, output: 2 }, "p/n": { input: 3, output: 3 } }),
    "other",
  );
  const both = firstPriceOf([mine, other]);
  expect(both.find({ provider: "p", model: "m", at: AT })?.source).toBe("file:mine");
  expect(both.find({ provider: "p", model: "n", at: AT })?.source).toBe("file:other");
  expect(both.find({ provider: "p", model: "o", at: AT })).toBeNull();
});
