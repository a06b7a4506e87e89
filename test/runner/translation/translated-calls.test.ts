import { describe, expect, test } from "vitest";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { replyAssembler } from "../../../runner/proxy/assemble/assemble-reply.ts";
import { KeepBudget } from "../../../runner/proxy/assemble/kept-text.ts";
import { UsageMeter } from "../../../core/usage/usage-meter.ts";
import { aModelServer, ask, MODEL, PROTOCOLS } from "../proxy/proxy-fixture.ts";
import { aTranslatingProxy } from "./translating-proxy.ts";

const SPOKEN = ["anthropic-messages", "openai-completions", "gemini"] as const;
const PAIRS = PROTOCOLS.flatMap((from) =>
  SPOKEN.filter((to) => to !== from).flatMap((to) =>
    [true, false].map((stream) => ({ from, to, stream })),
  ),
);
const TURN = { text: "hëllo 🎉", reasoning: "hm", shell: ["ls -la", "cat 'a b'"] };
const USED = { input: 350, output: 40, cacheRead: 600, cacheWrite5m: 50, cacheWrite1h: 0 };

function read(protocol: ModelProtocol, stream: boolean, text: string) {
  const assembler = replyAssembler(protocol, new KeepBudget(1_000_000));
  const meter = new UsageMeter(protocol, stream ? "sse" : "json", {
    onEvent: (event) => assembler.read(event),
  });
  meter.push(new TextEncoder().encode(text));
  return { reading: meter.end(), body: assembler.body() };
}

describe("a call that is translated", () => {
  test.for(PAIRS)(
    "$from on $to, stream $stream: is answered whole, and paid by the provider's own count",
    async ({ from, to, stream }) => {
      const server = await aModelServer({ turns: [TURN] });
      const { proxy, rows, gate, exchanges } = await aTranslatingProxy(server.origin, from, to);
      const response = await ask(proxy, { protocol: from, stream });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      expect(response.headers.get("content-type")).toMatch(stream ? /event-stream/u : /json/u);
      await proxy.close();
      const { reading, body } = read(from, stream, text);
      const isGemini = [from, to].includes("gemini");
      const tokens = isGemini ? { ...USED, input: 400, cacheWrite5m: 0 } : USED;
      expect(reading).toMatchObject({ status: "complete", tokens, model: MODEL, error: null });
      const said = JSON.stringify(body);
      for (const part of ["hëllo 🎉", "hm", "ls -la", "cat 'a b'"]) expect(said).toContain(part);
      const billed = to === "gemini" ? { ...USED, input: 400, cacheWrite5m: 0 } : USED;
      expect(rows).toEqual([
        expect.objectContaining({
          protocol: from,
          purpose: "main",
          end: "answered",
          status: 200,
          upstream_status: 200,
          model_asked: MODEL,
          model_served: MODEL,
          tools: 1,
          stream,
          usage_status: "complete",
          tokens: billed,
          cost_status: "priced",
          anomaly: null,
          translation: { to, left_out: [] },
        }),
      ]);
      expect(gate.settled).toMatchObject([{ actual: { kind: "used", tokens: billed } }]);
      expect(server.modelRequests()).toMatchObject([{ protocol: to, status: 200 }]);
      expect(exchanges[0]?.request.body).toEqual(server.modelRequests()[0]?.body);
    },
  );
});
