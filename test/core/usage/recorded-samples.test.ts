import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { UsageReading } from "../../../core/model/usage-reading.ts";
import { priceTokens } from "../../../core/usage/price-tokens.ts";
import { UsageMeter } from "../../../core/usage/usage-meter.ts";
import { CARD, RECORDED, type RecordedSample, streamText } from "./recorded-samples.ts";
import { buckets, read } from "./read-usage.ts";
import { bytesOf, cutAt } from "./rendered-replies.ts";

function readParts(sample: RecordedSample, parts: readonly Uint8Array[]): UsageReading {
  const meter = new UsageMeter(sample.protocol, "sse");
  for (const part of parts) meter.push(part);
  return meter.end();
}

function figuresOf(reading: UsageReading): unknown {
  if (reading.status !== "complete") return reading.status;
  const microUsd = priceTokens(CARD, reading.tokens);
  return { tokens: buckets(reading), reasoning: reading.reasoning, microUsd };
}

const recordedIn = ({ tokens, reasoning, microUsd }: RecordedSample): unknown => ({
  tokens,
  reasoning,
  microUsd,
});

describe.each(RECORDED)("$name", (sample) => {
  const bytes = bytesOf(streamText(sample));

  test("counts and costs what was recorded, as a whole body and as a stream", () => {
    expect(figuresOf(read(sample.protocol, sample.body))).toEqual(recordedIn(sample));
    expect(figuresOf(readParts(sample, [bytes]))).toEqual(recordedIn(sample));
  });

  test("counts the same when its stream is cut in two at any byte, or after each one", () => {
    const whole = readParts(sample, [bytes]);
    for (let at = 0; at <= bytes.length; at += 1)
      expect([at, readParts(sample, [bytes.subarray(0, at), bytes.subarray(at)])]).toEqual([
        at,
        whole,
      ]);
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    expect(readParts(sample, single)).toEqual(whole);
  });
});

test("any recorded stream, cut at any places and with any line ends, costs the same to the micro-dollar", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...RECORDED),
      fc.array(fc.nat(5_000), { maxLength: 60 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      (sample, cuts, lineEnd) => {
        const bytes = bytesOf(streamText(sample).replaceAll("\n", lineEnd));
        expect(figuresOf(readParts(sample, cutAt(bytes, cuts)))).toEqual(recordedIn(sample));
      },
    ),
    { numRuns: 500 },
  );
});

test("a recorded stream that ends early is never a smaller bill: all of it is counted, or it is incomplete", () => {
  const smaller = RECORDED.flatMap((sample) => {
    const bytes = bytesOf(streamText(sample));
    const whole = JSON.stringify(recordedIn(sample));
    return Array.from(bytes, (_, at) => figuresOf(readParts(sample, [bytes.subarray(0, at)])))
      .filter((figures) => figures !== "incomplete" && JSON.stringify(figures) !== whole)
      .map((figures) => [sample.name, figures]);
  });
  expect(smaller).toEqual([]);
});
