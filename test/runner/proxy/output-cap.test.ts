import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { UsageMeter } from "../../../core/usage/usage-meter.ts";
import { bytesOf } from "../../core/usage/rendered-replies.ts";
import {
  aModelServer,
  aProxy,
  ask,
  atEnd,
  PROTOCOLS,
  requestBody,
  until,
} from "./proxy-fixture.ts";

const LIMIT_FIELDS = {
  "anthropic-messages": "max_tokens",
  "openai-completions": "max_tokens",
  "openai-responses": "max_output_tokens",
  gemini: "generationConfig",
} as const;

test.each(PROTOCOLS)(
  "%s: a provider that ignores the limit is cut off, the agent gets a clean end",
  async (protocol) => {
    // 1000 tokens were allowed; no 1000 tokens are 16,000 characters long.
    const server = await aModelServer({ faults: [{ kind: "huge-body", bytes: 5_000_000 }] });
    const { proxy, rows, gate } = await aProxy(server.origin);
    const text = await (await ask(proxy, { protocol })).text();
    expect(text.length).toBeLessThan(protocol === "gemini" ? 6_000_000 : 1_000_000);
    const meter = new UsageMeter(protocol, "sse");
    meter.push(bytesOf(text));
    expect(meter.end().stopReason).toMatch(/^(?:max_tokens|length|max_output_tokens|MAX_TOKENS)$/u);
    await proxy.close();
    expect(rows[0]).toMatchObject({ end: "capped", cost_status: "reserved" });
    expect(gate.settled[0]?.actual.kind).toBe("unknown");
    await until(() => server.modelRequests()[0]?.ended, Boolean);
  },
);

test.each(PROTOCOLS)(
  "%s: the user's output limit is sent, reserved and recorded",
  async (protocol) => {
    const server = await aModelServer();
    const { proxy, gate, rows } = await aProxy(server.origin, { maxOutputTokens: 500 });
    const field = LIMIT_FIELDS[protocol];
    const { [field]: _limit, ...without } = requestBody(protocol);
    const smaller = field === "generationConfig" ? { maxOutputTokens: 100, temperature: 1 } : 100;
    await (await ask(proxy, { protocol })).text();
    await (await ask(proxy, { protocol, body: without })).text();
    await (await ask(proxy, { protocol, body: { ...without, [field]: smaller } })).text();
    await proxy.close();
    const sent = server.modelRequests().map(({ body }) => (body as Record<string, unknown>)[field]);
    const limit = field === "generationConfig" ? { maxOutputTokens: 500 } : 500;
    expect(sent).toEqual([limit, limit, smaller]);
    expect(gate.claims.map(({ tokens }) => tokens.output)).toEqual([500, 500, 100]);
    expect(rows.map(({ sampling }) => sampling?.max_tokens)).toEqual([500, 500, 100]);
  },
);

test("without a limit of anyone the model's own is reserved, and without that there is no bound", async () => {
  const server = await aModelServer();
  const { max_output_tokens: _limit, ...body } = requestBody("openai-responses");
  const known = await aProxy(server.origin);
  await (await ask(known.proxy, { protocol: "openai-responses", body })).text();
  expect(known.gate.claims[0]).toMatchObject({ tokens: { output: 64_000 }, unbounded: [] });
  const unknown = await aProxy(server.origin, {
    modelLimits: { contextTokens: null, maxOutputTokens: null },
  });
  await (await ask(unknown.proxy, { protocol: "openai-responses", body })).text();
  expect(unknown.gate.claims[0]?.unbounded).toEqual(["output without a limit"]);
});

/** A chunk of Chat Completions that tells the usage so far, as some servers do in each. */
function event(content: string, output: number): string {
  const usage = { prompt_tokens: 9, completion_tokens: output, total_tokens: 9 + output };
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices, usage })}\n\n`;
}

test("a stream that is over its cap is ended between two events, wherever its bytes were cut", async () => {
  // The first event tells more output than was reserved; its piece ends within the second one.
  const [first, second, third] = [event("one", 2000), event("two", 2001), event("three", 2002)];
  const parts = [
    first + second.slice(0, 20),
    second.slice(20, 40),
    second.slice(40) + third.slice(0, 30),
    third.slice(30),
  ];
  const server = createServer(async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const part of parts) {
      response.write(part);
      await delay(60);
    }
    response.end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  atEnd(async () => server.close());
  const { port } = server.address() as AddressInfo;
  const { proxy, rows } = await aProxy(`http://127.0.0.1:${port}`);
  const text = await (await ask(proxy, { protocol: "openai-completions" })).text();
  expect(text.startsWith(first + second)).toBe(true);
  const ending = text.slice((first + second).length);
  expect(ending).not.toContain("three");
  expect(ending).toMatch(/^data: \{.*"finish_reason":"length"/u);
  expect(ending.endsWith("data: [DONE]\n\n")).toBe(true);
  await proxy.close();
  expect(rows[0]?.end).toBe("capped");
});
