import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "../../../core/usage/json-view.ts";
import { UsageMeter } from "../../../core/usage/usage-meter.ts";
import { replyAssembler } from "../../../runner/proxy/assemble/assemble-reply.ts";
import { KeepBudget } from "../../../runner/proxy/assemble/kept-text.ts";
import type { ReplyAssembler } from "../../../runner/proxy/assemble/reply-assembler.ts";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { PROTOCOLS, bytesOf, renderedReply } from "../../core/usage/rendered-replies.ts";

function assemble(protocol: ModelProtocol, stream: string, chars = 1_000_000): ReplyAssembler {
  const assembler = replyAssembler(protocol, new KeepBudget(chars));
  const meter = new UsageMeter(protocol, "sse", { onEvent: (event) => assembler.read(event) });
  meter.push(bytesOf(stream));
  meter.end();
  return assembler;
}

test("a stream is put together as the body that it would have been", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(fc.constantFrom(...PROTOCOLS), text, text, (protocol, said, thought) => {
      const { stream, body } = renderedReply(protocol, { text: said, reasoning: thought });
      const whole = assemble(protocol, stream).body();
      expect(whole).toEqual(body);
    }),
    { numRuns: 200 },
  );
});

test.each(PROTOCOLS)("a whole body of %s stands for itself", (protocol) => {
  const { body } = renderedReply(protocol);
  const assembler = replyAssembler(protocol, new KeepBudget(1_000_000));
  assembler.read(body);
  expect(assembler.body()).toEqual(body);
  expect(assembler.visibleChars).toBeGreaterThan(10);
});

test.each(PROTOCOLS)("what came of a cut stream of %s is kept", (protocol) => {
  const { stream } = renderedReply(protocol, { text: "abcdefghijkl".repeat(10) });
  const cut = stream.slice(0, stream.indexOf("abcdefghijkl") + 60);
  expect(
    JSON.stringify(assemble(protocol, `${cut.slice(0, cut.lastIndexOf("\n\n"))}\n\n`).body()),
  ).toContain("hm");
});

test("memory is bounded by the budget, whatever a hostile stream opens", () => {
  const events: Record<ModelProtocol, (index: number) => unknown> = {
    "anthropic-messages": (index) => ({
      type: "content_block_start",
      index,
      content_block: { type: "text", text: "x" },
    }),
    "openai-completions": (index) => ({
      choices: [{ index: index % 200, delta: { tool_calls: [{ index, id: `${index}` }] } }],
    }),
    "openai-responses": (index) => ({
      type: "response.output_item.done",
      item: { id: index, text: "xxxxxxxxxxxx" },
    }),
    gemini: (index) => ({
      candidates: [{ index: 0, content: { parts: [{ text: "", thought: index % 2 === 0 }] } }],
    }),
  };
  for (const protocol of PROTOCOLS) {
    const assembler = replyAssembler(protocol, new KeepBudget(10_000));
    for (let index = 0; index < 20_000; index += 1) assembler.read(events[protocol](index));
    expect(JSON.stringify(assembler.body() ?? null).length).toBeLessThan(60_000);
  }
});

test.each(PROTOCOLS)(
  "an early ending of %s reads as a reply that reached its limit",
  (protocol) => {
    const { stream } = renderedReply(protocol, { text: "abcdefghijkl".repeat(10) });
    const upTo = stream.lastIndexOf("abcdef", stream.length - 400);
    const open = `${stream.slice(0, stream.indexOf("\n\n", upTo))}\n\n`;
    const ending = assemble(protocol, open).cappedEnding(7);
    const whole = assemble(protocol, open + ending).body();
    const json = JSON.stringify(whole);
    expect(json).toMatch(/max_tokens|"length"|max_output_tokens|MAX_TOKENS/u);
    for (const line of ending.split("\n").filter((each) => each.startsWith("data: {")))
      expect(parseJson(line.slice(6))).toBeDefined();
  },
);

test("whatever events come, an assembler answers and does not throw", () => {
  fc.assert(
    fc.property(fc.constantFrom(...PROTOCOLS), fc.array(fc.jsonValue()), (protocol, events) => {
      const assembler = replyAssembler(protocol, new KeepBudget(100));
      for (const event of events) assembler.read(event);
      JSON.stringify(assembler.body());
      expect(assembler.cappedEnding(1)).toContain("data: ");
    }),
  );
});
