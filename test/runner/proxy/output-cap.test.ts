import { expect, test } from "vitest";
import { UsageMeter } from "../../../core/usage/usage-meter.ts";
import { bytesOf } from "../../core/usage/rendered-replies.ts";
import { aModelServer, aProxy, ask, PROTOCOLS, requestBody, until } from "./proxy-fixture.ts";

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
