import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { UpstreamError } from "../../../core/ports/model-upstream.ts";
import { createHttpUpstream } from "../../../runner/proxy/http-upstream.ts";
import { secretForms } from "../../../runner/proxy/redact/secret-encodings.ts";
import { aModelServer, aProxy, ask, atEnd, PROTOCOLS, PROVIDER_KEY } from "./proxy-fixture.ts";

const FORMS = secretForms([PROVIDER_KEY]);

function holdsKey(text: string): boolean {
  return FORMS.some((form) => text.includes(form));
}

test("the key is in no form in the proxy's object, whoever prints it", async () => {
  const server = await aModelServer();
  const { proxy } = await aProxy(server.origin);
  const upstream = createHttpUpstream({
    provider: "xiaomi",
    protocol: "anthropic-messages",
    baseUrl: server.origin,
    credential: async () => ({ header: "x-api-key", value: PROVIDER_KEY }),
  });
  for (const thing of [proxy, upstream, proxy.totals()]) {
    expect(holdsKey(inspect(thing, { depth: 20, showHidden: true }))).toBe(false);
    expect(holdsKey(JSON.stringify(thing))).toBe(false);
  }
});

test.each(PROTOCOLS)(
  "%s: a provider that repeats the key in an error gives it to nobody",
  async (protocol) => {
    const echoing = createServer((_request, response) => {
      const text = `bad request by ${PROVIDER_KEY} / ${Buffer.from(PROVIDER_KEY).toString("base64")}`;
      response.writeHead(400, { "content-type": "application/json", "x-echo": PROVIDER_KEY });
      response.end(JSON.stringify({ error: { message: text, code: "bad" } }));
    });
    await new Promise<void>((resolve) => {
      echoing.listen(0, "127.0.0.1", resolve);
    });
    atEnd(async () => echoing.close());
    const { port } = echoing.address() as AddressInfo;
    const { proxy, exchanges, rows } = await aProxy(`http://127.0.0.1:${port}`);
    const response = await ask(proxy, { protocol });
    const text = await response.text();
    expect(response.status).toBe(400);
    expect(text).toContain("bad request by ***REDACTED***");
    await proxy.close();
    expect(holdsKey(text + JSON.stringify([...response.headers]))).toBe(false);
    expect(holdsKey(JSON.stringify([rows, exchanges]))).toBe(false);
  },
);

test("headers that repeat the key, and errors that spell it in escapes, reach nobody", async () => {
  const escaped = PROVIDER_KEY.replaceAll(
    /./gu,
    (letter) => `\\u${(letter.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
  const echoing = createServer((request, response) => {
    request.resume();
    const headers = { "x-request-id": PROVIDER_KEY, "retry-after": "7" };
    const isError = (request.url ?? "").includes("chat");
    response.writeHead(isError ? 400 : 200, { ...headers, "content-type": "application/json" });
    response.end(`{"error":{"message":"of ${escaped}","code":"bad"}}`);
  });
  await new Promise<void>((resolve) => {
    echoing.listen(0, "127.0.0.1", resolve);
  });
  atEnd(async () => echoing.close());
  const { port } = echoing.address() as AddressInfo;
  const { proxy, exchanges, rows } = await aProxy(`http://127.0.0.1:${port}`);
  const failed = await ask(proxy, { protocol: "openai-completions" });
  expect(await failed.json()).toEqual({ error: { message: "of ***REDACTED***", code: "bad" } });
  const good = await ask(proxy, { protocol: "anthropic-messages" });
  await good.text();
  await proxy.close();
  expect(failed.headers.get("retry-after")).toBe("7");
  for (const { headers } of [failed, good]) expect(headers.get("x-request-id")).toBeNull();
  expect(holdsKey(JSON.stringify([rows, exchanges]))).toBe(false);
});

test("a key that a model says, split over many events, leaves no trace in the record (failures C-58)", async () => {
  // Split over many events, which a search through the bytes would miss.
  const server = await aModelServer({
    turns: [
      { text: `it is ${PROVIDER_KEY} and base64 ${Buffer.from(PROVIDER_KEY).toString("base64")}` },
    ],
  });
  for (const protocol of PROTOCOLS) {
    const { proxy, exchanges } = await aProxy(server.origin);
    await (await ask(proxy, { protocol })).text();
    await proxy.close();
    expect(JSON.stringify(exchanges)).toContain("it is ***REDACTED***");
    expect(holdsKey(JSON.stringify(exchanges))).toBe(false);
  }
});

test("a redirect is not followed: the key stays with its host", async () => {
  const elsewhere = await aModelServer();
  const redirecting = createServer((_request, response) => {
    response.writeHead(307, { location: `${elsewhere.origin}/v1/messages` });
    response.end();
  });
  await new Promise<void>((resolve) => {
    redirecting.listen(0, "127.0.0.1", resolve);
  });
  atEnd(async () => redirecting.close());
  const { port } = redirecting.address() as AddressInfo;
  const { proxy, rows } = await aProxy(`http://127.0.0.1:${port}`);
  const response = await ask(proxy);
  expect(response.status).toBe(502);
  expect(response.headers.get("location")).toBeNull();
  await proxy.close();
  expect(elsewhere.journal).toEqual([]);
  expect(rows[0]).toMatchObject({ end: "unreachable", cost_status: "reserved" });
});

test("an error of the connection holds no credential", async () => {
  const upstream = createHttpUpstream({
    provider: "xiaomi",
    protocol: "anthropic-messages",
    baseUrl: "http://127.0.0.1:9",
    credential: async () => ({ header: "x-api-key", value: PROVIDER_KEY }),
  });
  const call = {
    model: "m",
    stream: false,
    query: new Map<string, string>(),
    headers: {},
    body: new Uint8Array(),
    signal: new AbortController().signal,
  };
  const thrown: unknown = await upstream.send(call).catch((reason: unknown) => reason);
  expect(thrown).toBeInstanceOf(UpstreamError);
  expect(holdsKey(inspect(thrown, { depth: 20, showHidden: true }))).toBe(false);
});

test.each(["ftp://x", "https://user:pw@host/v1", "https://host/#x", "not a url", ""])(
  "%j is no base URL, and the refusal does not repeat it",
  (baseUrl) => {
    const create = (): unknown =>
      createHttpUpstream({
        provider: "p",
        protocol: "gemini",
        baseUrl,
        credential: async () => ({ header: "x", value: "y" }),
      });
    expect(create).toThrow(BenchError);
    expect(create).toThrow(/^a provider's base URL is no http or https URL$/u);
  },
);

test("a provider that gives the key as its model's name or a reason to stop puts it into no row", async () => {
  const echoing = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" });
    const message = { role: "assistant", content: "done" };
    const choices = [{ index: 0, message, finish_reason: PROVIDER_KEY }];
    const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
    const reply = { id: "1", object: "chat.completion", model: PROVIDER_KEY, choices, usage };
    response.end(JSON.stringify(reply));
  });
  await new Promise<void>((resolve) => {
    echoing.listen(0, "127.0.0.1", resolve);
  });
  atEnd(async () => echoing.close());
  const { port } = echoing.address() as AddressInfo;
  const { proxy, exchanges, rows } = await aProxy(`http://127.0.0.1:${port}`);
  await (await ask(proxy, { protocol: "openai-completions", stream: false })).text();
  await proxy.close();
  expect(rows[0]).toMatchObject({
    model_served: "***REDACTED***",
    stop_reason: "***REDACTED***",
  });
  expect(holdsKey(JSON.stringify([rows, exchanges]))).toBe(false);
});
