import type { ModelProtocol } from "../../../core/model/exchange.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ScriptedUsage } from "../../../core/model/model-script.ts";
import { recordOf } from "../../../core/usage/json-view.ts";
import { eventText } from "../../../runner/scripted-model/deliver-reply.ts";
import { renderAnthropic } from "../../../runner/scripted-model/render-anthropic.ts";
import { renderCompletions } from "../../../runner/scripted-model/render-completions.ts";
import { renderGemini } from "../../../runner/scripted-model/render-gemini.ts";
import { renderResponses } from "../../../runner/scripted-model/render-responses.ts";
import type { RenderedReply } from "../../../runner/scripted-model/scripted-reply.ts";
import { usageShape } from "../../../runner/scripted-model/usage-shapes.ts";
import { actedOn, saidIn, type Said as Words } from "./said-in-reply.ts";
import { PAIRS, readAsAgent, translateReply, withoutIds } from "./translate-reply.ts";

interface Said extends Words {
  readonly usage: ScriptedUsage;
}

function rendered(protocol: ModelProtocol, said: Said): RenderedReply {
  const reply = {
    model: "served",
    reasoning: said.reasoning,
    text: said.text,
    calls: said.args.map((args, index) => ({
      tool: { name: `tool_${String(index)}`, type: null, schema: {} },
      args,
    })),
    stop: null,
    usage: usageShape(protocol, said.usage),
  };
  if (protocol === "anthropic-messages") return renderAnthropic(reply);
  if (protocol === "openai-responses") return renderResponses(reply);
  return protocol === "gemini" ? renderGemini(reply) : renderCompletions(reply, true);
}

const someText = fc.option(fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }));
const count = fc.integer({ min: 1, max: 100_000 });
const anySaid: fc.Arbitrary<Said> = fc.record({
  reasoning: someText,
  text: someText,
  args: fc.array(fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: "grapheme" })), {
    maxLength: 3,
  }),
  usage: fc.record({
    input: count,
    cacheRead: count,
    cacheWrite5m: count,
    cacheWrite1h: count,
    output: count,
    reasoning: fc.constant(0),
  }),
});

describe.for(PAIRS)("a reply of $from for an agent of $to", ({ from, to }) => {
  test("is the same wherever its bytes are cut", () => {
    fc.assert(
      fc.property(anySaid, fc.array(fc.nat(), { maxLength: 20 }), (said, cuts) => {
        const bytes = rendered(from, said).events.map(eventText).join("");
        const whole = translateReply(bytes, { from, to });
        const cut = translateReply(bytes, { from, to }, cuts);
        expect(withoutIds(cut.text)).toBe(withoutIds(whole.text));
      }),
      { numRuns: 30 },
    );
  });

  test("as a stream adds up to the same reply as a whole, and both tell all that was used", () => {
    fc.assert(
      fc.property(anySaid, (said) => {
        const reply = rendered(from, said);
        const stream = translateReply(reply.events.map(eventText).join(""), { from, to });
        const body = JSON.stringify(reply.body);
        const whole = translateReply(body, { from, to, framing: "json", stream: false });
        const streamed = readAsAgent(to, "sse", stream.text);
        const read = readAsAgent(to, "json", whole.text);
        expect(actedOn(to, streamed.body)).toEqual(actedOn(to, read.body));
        expect(whole.reading).toMatchObject({ status: "complete" });
        for (const { reading } of [streamed, read]) {
          expect(reading).toMatchObject({ status: "complete", model: "asked", error: null });
          expect(tokensOf(reading)).toEqual(
            to === "gemini" ? asGemini(tokensOf(whole.reading)) : tokensOf(whole.reading),
          );
        }
        const { reasoning, text, args } = said;
        expect(saidIn(to, read.body)).toEqual({ reasoning, text, args });
      }),
      { numRuns: 30 },
    );
  });
});

function tokensOf(reading: { readonly status: string; readonly tokens?: unknown }) {
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = recordOf(reading.tokens);
  const numbers = [input, output, cacheRead, cacheWrite5m, cacheWrite1h].map(Number);
  const [i = 0, o = 0, r = 0, w = 0, l = 0] = numbers;
  return { input: i, output: o, cacheRead: r, cacheWrite5m: w, cacheWrite1h: l };
}

/** Gemini has no word for what is written to a cache: it is prompt. */
function asGemini(tokens: ReturnType<typeof tokensOf>) {
  const input = tokens.input + tokens.cacheWrite5m + tokens.cacheWrite1h;
  return { ...tokens, input, cacheWrite5m: 0, cacheWrite1h: 0 };
}
