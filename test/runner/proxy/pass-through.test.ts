import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { aModelServer, aProxy, ask, MODEL, PROTOCOLS, requestBody } from "./proxy-fixture.ts";

const USED = { input: 350, output: 40, cacheRead: 600, cacheWrite5m: 50, cacheWrite1h: 0 };

for (const protocol of PROTOCOLS)
  for (const stream of [true, false])
    test(`${protocol}, stream ${stream}: the same bytes reach the agent, metered and paid`, async () => {
      const server = await aModelServer({
        turns: [{ text: "hëllo 🎉", reasoning: "hm", shell: "ls" }],
      });
      const { proxy, gate, rows, exchanges } = await aProxy(server.origin);
      const response = await ask(proxy, { protocol, stream });
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toMatch(stream ? /event-stream/u : /json/u);
      expect(text).toContain("ls");
      await proxy.close();

      const [seen] = server.modelRequests();
      const expected = requestBody(protocol, { stream });
      const options = { stream_options: { include_usage: true } };
      const isChatStream = protocol === "openai-completions" && stream;
      expect(seen?.body).toEqual(isChatStream ? { ...expected, ...options } : expected);

      const tokens = protocol === "gemini" ? { ...USED, input: 400, cacheWrite5m: 0 } : USED;
      // 350 + 40 x 5 + 600 x 0.1 + 50 x 1.25 = 672.5, and 400 + 200 + 60 = 660 without a write.
      const costMicroUsd = protocol === "gemini" ? 660 : 673;
      expect(rows).toEqual([
        expect.objectContaining({
          index: 0,
          protocol,
          purpose: "main",
          model_asked: MODEL,
          model_sent: MODEL,
          model_served: MODEL,
          end: "answered",
          status: 200,
          upstream_status: 200,
          upstream_tries: 1,
          try: 1,
          refusal: null,
          tools: 1,
          stream,
          usage_status: "complete",
          tokens,
          cost_micro_usd: costMicroUsd,
          cost_status: "priced",
          price_source: "file:test",
          anomaly: null,
          unpriced: [],
        }),
      ]);
      expect(rows[0]?.sampling?.max_tokens).toBe(1000);
      expect(gate.settled).toEqual([{ id: "0", actual: { kind: "used", tokens, costMicroUsd } }]);
      expect(gate.claims[0]?.tokens.output).toBe(1000);
      expect(gate.claims[0]?.costMicroUsd ?? 0).toBeGreaterThan(costMicroUsd);
      expect(proxy.totals()).toMatchObject({ requests: 1, refused: 0, tokens, costMicroUsd });

      const whole = exchanges[0]?.response.body;
      expect(JSON.stringify(whole)).toContain("hëllo 🎉");
      expect(JSON.stringify(whole)).toContain("hm");
      expect(exchanges[0]?.request.body).toEqual(seen?.body);
      expect(exchanges[0]?.metadata).toMatchObject({ request_model: MODEL, call_purpose: "main" });
    });

/** Without what differs between two answers of the same script. */
function plain(text: string): string {
  return text.replaceAll(/"(?:id|created)":("[^"]*"|\d+)/gu, "");
}

test("bytes pass unchanged, however the provider cuts them", async () => {
  const server = await aModelServer({ turns: [{ text: "ünïcödé ".repeat(50) }], pieceBytes: 7 });
  const direct = await fetch(`${server.origin}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({
      ...requestBody("openai-completions"),
      stream_options: { include_usage: true },
    }),
  });
  const { proxy } = await aProxy(server.origin);
  const through = await ask(proxy, { protocol: "openai-completions" });
  expect(plain(await through.text())).toBe(plain(await direct.text()));
});

test("a request that needs no change passes byte for byte, odd spacing and numbers included", async () => {
  const server = await aModelServer();
  const { proxy } = await aProxy(server.origin);
  const raw = `{ "model" :"${MODEL}",  "max_tokens":1e3,"stream":false,\n"seed":12345678901234567890,"messages":[] }`;
  const response = await fetch(`${proxy.address}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": proxy.token },
    body: raw,
  });
  await response.text();
  expect(server.modelRequests()[0]?.bodyBytes).toBe(raw.length);
});

test("an encoded request is decoded, an unknown encoding refused", async () => {
  const server = await aModelServer();
  const { proxy, rows } = await aProxy(server.origin);
  const body = gzipSync(JSON.stringify(requestBody("openai-responses")));
  const send = (encoding: string): Promise<Response> =>
    fetch(`${proxy.address}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${proxy.token}`, "content-encoding": encoding },
      body,
    });
  expect((await send("gzip")).status).toBe(200);
  expect((await send("zstd")).status).toBe(415);
  expect((await send("br")).status).toBe(400);
  await proxy.close();
  expect(server.modelRequests()).toHaveLength(1);
  expect(rows.map(({ refusal }) => refusal)).toEqual([null, "body", "body"]);
});

test("an answer in an encoding that nobody asked for is decoded and metered", async () => {
  const server = await aModelServer();
  const { createServer } = await import("node:http");
  const gzipping = createServer((request, response) => {
    void (async () => {
      const reply = await fetch(server.origin + (request.url ?? ""), {
        method: "POST",
        body: JSON.stringify(requestBody("anthropic-messages", { stream: false })),
      });
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync(await reply.text()));
    })();
  });
  await new Promise<void>((resolve) => {
    gzipping.listen(0, "127.0.0.1", resolve);
  });
  const { port } = gzipping.address() as { port: number };
  const { proxy, rows } = await aProxy(`http://127.0.0.1:${port}`);
  const response = await ask(proxy, { stream: false });
  expect(response.headers.get("content-encoding")).toBeNull();
  expect(await response.json()).toMatchObject({ type: "message", model: MODEL });
  await proxy.close();
  gzipping.close();
  expect(rows[0]).toMatchObject({ usage_status: "complete" });
});
