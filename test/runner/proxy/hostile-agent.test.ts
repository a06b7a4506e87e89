import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { ModelProxy } from "../../../runner/proxy/model-proxy.ts";
import { aModelServer, aProxy, ask, MODEL, PROVIDER_KEY, requestBody } from "./proxy-fixture.ts";

/** Sends raw bytes and gives back all that comes until the other side closes. */
function raw(proxy: ModelProxy, bytes: string | Buffer, waitMs = 3_000): Promise<string> {
  const { port } = new URL(proxy.address);
  return new Promise((resolve, reject) => {
    let got = "";
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes));
    const timer = setTimeout(() => socket.destroy(), waitMs);
    socket.on("data", (chunk) => (got += chunk.toString("latin1")));
    socket.on("error", (thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "ECONNRESET" && thrown.code !== "EPIPE") reject(thrown);
    });
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(got);
    });
  });
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/u.exec(answer)?.[1] ?? 0);
}

const BODY = JSON.stringify(requestBody("anthropic-messages", { stream: false }));

function post(proxy: ModelProxy, target: string, headers: string[] = []): string {
  return [
    `POST ${target} HTTP/1.1`,
    "host: proxy",
    "connection: close",
    `x-api-key: ${proxy.token}`,
    `content-length: ${BODY.length}`,
    ...headers,
    "",
    BODY,
  ].join("\r\n");
}

test.each([
  ["a path that climbs", "/v1/messages/../../admin", 400],
  ["an encoded climb", "/v1/%2e%2e/v1/messages", 400],
  ["another host's URL", "http://169.254.169.254/latest/meta-data", 400],
  ["a path that names a host", "//169.254.169.254/v1/messages", 400],
  ["a path that is not served", "/v1/files", 404],
  ["a stored response", "/v1/responses/resp_1", 404],
  ["a batch", "/v1/messages/batches", 404],
  ["embeddings", "/v1/embeddings", 404],
])("%s is refused with no request upstream", async (_what, target, status) => {
  const server = await aModelServer();
  const { proxy, rows } = await aProxy(server.origin);
  expect(statusOf(await raw(proxy, post(proxy, target)))).toBe(status);
  await proxy.close();
  expect(server.journal).toEqual([]);
  expect(rows).toHaveLength(1);
  expect(rows[0]?.end).toBe("refused");
});

test("the host that an agent names is never the host that is asked", async () => {
  const server = await aModelServer();
  const { proxy } = await aProxy(server.origin);
  const answer = await raw(
    proxy,
    post(proxy, "/v1/messages", [
      "x-forwarded-host: evil.example",
      "x-original-url: /v1/files",
    ]).replace("host: proxy", "host: evil.example"),
  );
  expect(statusOf(answer)).toBe(200);
  const [seen] = server.modelRequests();
  expect(`http://${seen?.headers.host}`).toBe(server.origin);
  expect(Object.keys(seen?.headers ?? {}).toSorted()).toEqual([
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "x-api-key",
  ]);
});

test.each([
  ["two lengths", ["content-length: 3"]],
  ["a length and chunks", ["transfer-encoding: chunked"]],
  ["an odd transfer encoding", ["transfer-encoding: xchunked"]],
  ["chunks in disguise", ["transfer-encoding : chunked"]],
  ["a header without a name", [": x"]],
  ["a folded header", ["x-a: 1", " folded: 2"]],
])("a request that two servers could read differently is refused: %s", async (_what, headers) => {
  const server = await aModelServer();
  const { proxy } = await aProxy(server.origin);
  const smuggled = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";
  expect(statusOf(await raw(proxy, post(proxy, "/v1/messages", headers) + smuggled))).toBe(400);
  expect(server.journal).toEqual([]);
});

test("headers without end are refused, many connections do not stop it", async () => {
  const server = await aModelServer();
  const { proxy } = await aProxy(server.origin);
  expect(
    statusOf(await raw(proxy, post(proxy, "/v1/messages", [`x-big: ${"a".repeat(70_000)}`]))),
  ).toBe(431);
  const many = Array.from({ length: 400 }, (_each, index) => `x-${index}: 1`);
  expect(statusOf(await raw(proxy, post(proxy, "/v1/messages", many)))).toBe(200);
  expect(server.modelRequests()).toHaveLength(1);
});

test("a websocket and a tunnel are refused", async () => {
  const server = await aModelServer();
  const { proxy } = await aProxy(server.origin);
  const upgrade = `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${proxy.token}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n\r\n`;
  expect(statusOf(await raw(proxy, upgrade))).toBe(426);
  const tunnel = "CONNECT api.anthropic.com:443 HTTP/1.1\r\nhost: api.anthropic.com:443\r\n\r\n";
  expect(statusOf(await raw(proxy, tunnel))).toBe(405);
  expect(statusOf(await raw(proxy, "\x16\x03\x01\x00\xa5 not http\r\n\r\n"))).toBe(400);
  expect(server.journal).toEqual([]);
});

test.each([
  ["no JSON", "{"],
  ["a list", "[]"],
  ["no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ["a second model", `{"model":"gpt-5.5-pro","stream":false,"model":"${MODEL}"}`],
  ["a second model in disguise", `{"mod\\u0065l":"gpt-5.5-pro","model":"${MODEL}"}`],
  ["a model that is no name", `{"model":{"toString":"${MODEL}"}}`],
  ["a prototype", '{"__proto__":{"model":"x"}}'],
])("a body with %s is refused", async (_what, body) => {
  const server = await aModelServer();
  const { proxy } = await aProxy(server.origin);
  const response = await fetch(`${proxy.address}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": proxy.token },
    body,
  });
  expect(response.status).toBe(400);
  expect(server.journal).toEqual([]);
});

test("Gemini's limits cannot be told twice", async () => {
  const server = await aModelServer();
  const { proxy } = await aProxy(server.origin);
  const send = async (config: string): Promise<number> => {
    const response = await fetch(`${proxy.address}/v1beta/models/${MODEL}:generateContent`, {
      method: "POST",
      headers: { "x-goog-api-key": proxy.token },
      body: `{"contents":[],${config}}`,
    });
    return response.status;
  };
  expect(await send('"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":60000}')).toBe(400);
  expect(
    await send(
      '"generationConfig":{"maxOutputTokens":1},"generation_config":{"maxOutputTokens":60000}',
    ),
  ).toBe(400);
  expect(await send('"generationConfig":{"maxOutputTokens":1}')).toBe(200);
});

test("a body over the limit is refused before it is read to its end, a bomb before it is unpacked", async () => {
  const server = await aModelServer();
  const { proxy, rows } = await aProxy(server.origin, { limits: { maxBodyBytes: 100_000 } });
  const endless = `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${proxy.token}\r\ntransfer-encoding: chunked\r\n\r\n${`4000\r\n${"x".repeat(0x4000)}\r\n`.repeat(20)}`;
  expect(statusOf(await raw(proxy, endless, 500))).toBe(413);
  const bomb = gzipSync(Buffer.alloc(200_000_000, 32));
  const before = process.memoryUsage().rss;
  const response = await fetch(`${proxy.address}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": proxy.token, "content-encoding": "gzip" },
    body: bomb,
  });
  expect([400, 413]).toContain(response.status);
  expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  await proxy.close();
  expect(rows.map(({ refusal }) => refusal)).toEqual(["body", "body"]);
});

test("nesting without end is served and recorded without a fall", async () => {
  const server = await aModelServer();
  const { proxy, exchanges } = await aProxy(server.origin);
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const response = await fetch(`${proxy.address}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": proxy.token },
    body: `{"model":"${MODEL}","max_tokens":500,"stream":true,"messages":${deep}}`,
  });
  expect(response.status).toBe(200);
  await response.text();
  await proxy.close();
  expect(proxy.stopped()).toMatchObject({ reason: "trial-ended" });
  expect(JSON.stringify(exchanges[0])).toContain("nested deeper");
});

test("an agent that asks on and on after the end fills no disk", async () => {
  const server = await aModelServer();
  const { proxy, rows } = await aProxy(server.origin);
  proxy.stop("budget", "no more");
  for (let index = 0; index < 210; index += 1) await (await ask(proxy, { stream: false })).text();
  await proxy.close();
  expect(proxy.totals().refused).toBe(210);
  expect(rows).toHaveLength(200);
});

test("credentials and session ids of the agent go nowhere, and nothing of the provider's comes back", async () => {
  const server = await aModelServer();
  const { proxy, exchanges } = await aProxy(server.origin);
  const response = await ask(proxy, {
    headers: {
      cookie: "a=b",
      "x-codex-turn": "1",
      "x-stainless-os": "Linux",
      session_id: "s",
      "proxy-authorization": "Basic x",
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "b1",
      "user-agent": "claude-cli/2",
      "x-goog-api-key": "of-the-agent",
    },
  });
  await response.text();
  await proxy.close();
  const headers = server.modelRequests()[0]?.headers ?? {};
  expect(headers).toMatchObject({
    "x-api-key": PROVIDER_KEY,
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "b1",
    "user-agent": "claude-cli/2",
    "accept-encoding": "identity",
  });
  for (const name of [
    "cookie",
    "x-codex-turn",
    "x-stainless-os",
    "session_id",
    "authorization",
    "x-goog-api-key",
  ])
    expect(headers).not.toHaveProperty(name);
  expect(JSON.stringify(exchanges)).not.toContain(proxy.token);
  expect([...response.headers.keys()].toSorted()).toEqual([
    "connection",
    "content-type",
    "date",
    "keep-alive",
    "request-id",
    "transfer-encoding",
  ]);
});
