import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { promptTokens, totalTokens } from "../../../core/model/usage-buckets.ts";
import type { UsageReading } from "../../../core/model/usage-reading.ts";
import { UsageMeter } from "../../../core/usage/usage-meter.ts";
import { ScriptedUsage } from "../../../core/model/model-script.ts";
import { PROTOCOLS, bytesOf, cutAt, renderedReply } from "./rendered-replies.ts";

function meterStream(protocol: ModelProtocol, parts: readonly Uint8Array[]): UsageReading {
  const meter = new UsageMeter(protocol, "sse");
  for (const part of parts) meter.push(part);
  return meter.end();
}

function meterBody(protocol: ModelProtocol, body: unknown): UsageReading {
  const meter = new UsageMeter(protocol, "json");
  meter.push(bytesOf(JSON.stringify(body)));
  return meter.end();
}

const usage = fc
  .record({
    input: fc.nat(1_000_000),
    cacheRead: fc.nat(1_000_000),
    cacheWrite5m: fc.nat(100_000),
    output: fc.nat(100_000),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .filter(({ input, cacheRead, cacheWrite5m }) => input + cacheRead + cacheWrite5m > 0)
  .map(({ share, input, cacheRead, cacheWrite5m, output }) => ({
    input,
    cacheRead,
    cacheWrite5m,
    cacheWrite1h: 0,
    output,
    reasoning: Math.floor(output * share),
  }));

test.each(PROTOCOLS)(
  "the recorded sample of %s reads 1000 in, 600 of it cached, 40 out",
  (protocol) => {
    // notes/agents 7: what the scripted provider of the measurements told, streaming and not.
    const { stream, body } = renderedReply(protocol);
    const cacheWrite5m = protocol === "gemini" ? 0 : 50;
    for (const reading of [meterStream(protocol, [bytesOf(stream)]), meterBody(protocol, body)]) {
      expect(reading).toMatchObject({
        status: "complete",
        model: "m",
        tokens: {
          input: 400 - cacheWrite5m,
          cacheRead: 600,
          cacheWrite5m,
          cacheWrite1h: 0,
          output: 40,
        },
        reasoning: protocol === "anthropic-messages" ? null : 16,
        extras: [],
        unreadableEvents: 0,
      });
      if (reading.status !== "complete") throw new Error("not complete");
      expect(promptTokens(reading.tokens)).toBe(1000);
      expect(totalTokens(reading.tokens)).toBe(1040);
    }
  },
);

test("a stream cut anywhere reads the same as the whole body, whatever was used", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PROTOCOLS),
      usage,
      fc.array(fc.nat(100_000), { maxLength: 40 }),
      (protocol, counts, cuts) => {
        const { stream, body } = renderedReply(protocol, { usage: ScriptedUsage.parse(counts) });
        const whole = meterBody(protocol, body);
        expect(whole.status).toBe("complete");
        expect(meterStream(protocol, cutAt(bytesOf(stream), cuts))).toEqual(whole);
        const crlf = stream.replaceAll("\n", "\r\n");
        expect(meterStream(protocol, cutAt(bytesOf(`\uFEFF${crlf}`), cuts))).toEqual(whole);
      },
    ),
    { numRuns: 300 },
  );
});

test("the invariant holds for every complete reading: buckets are counts, and they add up", () => {
  fc.assert(
    fc.property(fc.constantFrom(...PROTOCOLS), usage, (protocol, counts) => {
      const { body } = renderedReply(protocol, { usage: ScriptedUsage.parse(counts) });
      const reading = meterBody(protocol, body);
      if (reading.status !== "complete") throw new Error(reading.status);
      const told = counts.input + counts.cacheRead + counts.cacheWrite5m;
      expect(promptTokens(reading.tokens)).toBe(told);
      expect(totalTokens(reading.tokens)).toBe(told + counts.output);
      expect(reading.tokens.cacheRead).toBe(counts.cacheRead);
    }),
  );
});

test("a stream that breaks off before its last part is incomplete, never a smaller bill", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PROTOCOLS),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (protocol, share) => {
        const { stream } = renderedReply(protocol, { text: "a longer text ".repeat(20) });
        const bytes = bytesOf(stream);
        const reading = meterStream(protocol, [
          bytes.subarray(0, Math.floor(bytes.length * share)),
        ]);
        const total = reading.status === "complete" ? totalTokens(reading.tokens) : reading.status;
        expect([1040, "incomplete"]).toContain(total);
      },
    ),
    { numRuns: 400 },
  );
});

test("an Anthropic stream that is cut still tells what was known of its input", () => {
  const { stream } = renderedReply("anthropic-messages");
  const reading = meterStream("anthropic-messages", [bytesOf(stream.slice(0, 900))]);
  expect(reading).toMatchObject({ status: "incomplete", tokens: { input: 350, output: 1 } });
});

test("a Gemini stream without alt=sse is one array and reads the same", () => {
  const { stream, body } = renderedReply("gemini");
  const chunks = stream
    .split("\n\n")
    .filter((part) => part !== "")
    .map((part) => JSON.parse(part.slice("data: ".length)) as unknown);
  expect(meterBody("gemini", chunks)).toEqual(meterBody("gemini", body));
});

test("whatever bytes come, a meter answers and does not throw", () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 50 }),
    fc.json().map((json) => bytesOf(`data: ${json}\n\n`)),
    fc
      .constantFrom("usage", "message", "response", "choices", "usageMetadata", "delta")
      .chain((key) =>
        fc.json().map((json) => bytesOf(`data: {"type":"message_start","${key}":${json}}\n\n`)),
      ),
  );
  fc.assert(
    fc.property(fc.constantFrom(...PROTOCOLS), fc.array(piece), (protocol, parts) => {
      expect(meterStream(protocol, parts).status).toMatch(/^(?:complete|incomplete|anomaly)$/u);
      const meter = new UsageMeter(protocol, "json");
      for (const part of parts) meter.push(part);
      expect(meter.end().status).toMatch(/^(?:complete|incomplete|anomaly)$/u);
    }),
  );
});

test("a body over the limit is not read and not kept", () => {
  const meter = new UsageMeter("gemini", "json", { maxEventBytes: 1000 });
  for (let index = 0; index < 100; index += 1) meter.push(new Uint8Array(100).fill(32));
  meter.push(bytesOf(JSON.stringify(renderedReply("gemini").body)));
  expect(meter.end()).toMatchObject({ status: "incomplete", tokens: null, unreadableEvents: 1 });
});
