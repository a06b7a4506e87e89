import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { bytesOf, renderedReply } from "../../core/usage/rendered-replies.ts";
import { aModelServer, aProxy, ask, atEnd, MODEL, PROTOCOLS, textOrCut } from "./proxy-fixture.ts";
import { heldBufferBytes } from "../../setup/held-bytes.ts";

/** A provider that answers as the test says. Resolves with its origin. */
async function aProvider(
  answer: (response: ServerResponse) => void | Promise<void>,
): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => void answer(response));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const EVENTS = { "content-type": "text/event-stream" };

test.each(PROTOCOLS)(
  "%s: a stream byte by byte, with CRLF and a byte order mark, is metered as ever",
  async (protocol) => {
    const { stream } = renderedReply(protocol);
    const bytes = bytesOf(`\uFEFF${stream.replaceAll("\n", "\r\n")}`);
    const origin = await aProvider(async (response) => {
      response.writeHead(200, EVENTS);
      for (const byte of bytes) {
        response.write(Uint8Array.of(byte));
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
      response.end();
    });
    const { proxy, rows } = await aProxy(origin);
    const got = Buffer.from(await (await ask(proxy, { protocol })).arrayBuffer());
    expect(got.equals(bytes)).toBe(true);
    await proxy.close();
    expect(rows[0]).toMatchObject({ usage_status: "complete", anomaly: null });
    expect(rows[0]?.tokens?.output).toBe(40);
  },
);

test("a line of 100 MB passes, costs no memory, and is charged in full", async () => {
  const piece = Buffer.alloc(1_000_000, 120);
  const origin = await aProvider(async (response) => {
    response.writeHead(200, EVENTS);
    response.write("data: ");
    for (let index = 0; index < 100; index += 1)
      if (!response.write(piece))
        await new Promise((resolve) => {
          response.once("drain", resolve);
        });
    response.end("\n\n");
  });
  const { proxy, rows, exchanges } = await aProxy(origin, { limits: { maxEventBytes: 4_000_000 } });
  const response = await ask(proxy);
  const before = process.memoryUsage().rss;
  let length = 0;
  let most = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    most = Math.max(most, process.memoryUsage().rss);
  }
  expect(length).toBe(100_000_008);
  expect(most - before).toBeLessThan(80_000_000);
  await proxy.close();
  expect(rows[0]).toMatchObject({
    end: "answered",
    usage_status: "incomplete",
    cost_status: "reserved",
  });
  expect(JSON.stringify(exchanges[0]).length).toBeLessThan(10_000);
});

test("events that are no JSON pass and do not disturb the count", async () => {
  const { stream } = renderedReply("openai-completions");
  const noisy = stream.replace(
    "data: [DONE]",
    "data: {oops\n\n: comment\n\nid: 7\nretry: 1\n\ndata: [DONE]",
  );
  const origin = await aProvider((response) => {
    response.writeHead(200, EVENTS);
    response.end(noisy);
  });
  const { proxy, rows } = await aProxy(origin);
  expect(await (await ask(proxy, { protocol: "openai-completions" })).text()).toBe(noisy);
  await proxy.close();
  expect(rows[0]?.usage_status).toBe("complete");
});

test("an answer that lies about its type, or names none, is read as what was asked for", async () => {
  const { stream } = renderedReply("anthropic-messages");
  for (const headers of [{}, { "content-type": "text/plain" }]) {
    const origin = await aProvider((response) => {
      response.writeHead(200, headers);
      response.end(stream);
    });
    const { proxy, rows } = await aProxy(origin);
    await (await ask(proxy)).text();
    await proxy.close();
    expect(rows[0]?.usage_status).toBe("complete");
  }
});

test("200 with nothing, garbage or an endless drip is never free and never hangs", async () => {
  const empty = await aProvider((response) => void response.writeHead(200, EVENTS).end());
  const garbage = await aProvider(
    (response) => void response.writeHead(200).end(Buffer.from([0xff, 0, 1])),
  );
  const drip = await aProvider((response) => {
    response.writeHead(200, EVENTS);
    const timer = setInterval(() => response.write(": still here\n\n"), 20);
    response.on("close", () => clearInterval(timer));
  });
  for (const origin of [empty, garbage, drip]) {
    const { proxy, rows } = await aProxy(origin, { limits: { totalMs: 400 } });
    const response = await ask(proxy);
    await textOrCut(response);
    await proxy.close();
    expect(rows[0]).toMatchObject({ usage_status: "incomplete", cost_status: "reserved" });
    expect(rows[0]?.duration_ms).toBeLessThan(10_000);
  }
});

test("no HTTP at all, and a body that breaks its promise, are failures of the provider", async () => {
  const short = await aProvider((response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write("{}");
    setTimeout(() => response.destroy(), 30);
  });
  const { proxy, rows } = await aProxy(short);
  expect(await textOrCut(await ask(proxy, { stream: false }))).toBe("cut");
  await proxy.close();
  expect(rows[0]).toMatchObject({ end: "cut", cost_status: "reserved" });
});

test("an encoding that nobody can read is a failure of the provider", async () => {
  const origin = await aProvider((response) => {
    response.writeHead(200, { "content-encoding": "zstd" });
    response.end("x");
  });
  const { proxy, rows } = await aProxy(origin);
  expect((await ask(proxy)).status).toBe(502);
  await proxy.close();
  expect(rows[0]).toMatchObject({ end: "unreachable", cost_status: "reserved" });
});

test("an answer that unpacks without end is passed on as it comes and holds no memory", async () => {
  const { createGzip } = await import("node:zlib");
  const origin = await aProvider((response) => {
    response.writeHead(200, { ...EVENTS, "content-encoding": "gzip" });
    const gzip = createGzip();
    gzip.pipe(response);
    for (let index = 0; index < 60; index += 1) gzip.write(Buffer.alloc(1_000_000, 32));
    gzip.end();
  });
  const { proxy } = await aProxy(origin, { limits: { maxEventBytes: 1_000_000 } });
  const before = await heldBufferBytes();
  const response = await ask(proxy);
  let length = 0;
  for await (const chunk of response.body ?? []) length += chunk.length;
  expect(length).toBe(60_000_000);
  expect((await heldBufferBytes()) - before).toBeLessThan(10_000_000);
});

test("fifty streams at once lose nothing and mix nothing", async () => {
  const server = await aModelServer({
    turns: [{ text: "x".repeat(2_000), reasoning: "hm" }],
    eventDelayMs: 1,
  });
  const { proxy, rows, gate } = await aProxy(server.origin);
  const texts = await Promise.all(
    Array.from({ length: 50 }, async (_each, index) => {
      const protocol = PROTOCOLS[index % PROTOCOLS.length] ?? "gemini";
      const response = await ask(proxy, { protocol });
      return { protocol, text: await response.text() };
    }),
  );
  await proxy.close();
  for (const { text } of texts)
    expect(text.replaceAll(/[^x]/gu, "").length).toBeGreaterThanOrEqual(2_000);
  expect(rows).toHaveLength(50);
  expect(rows.every((row) => row.usage_status === "complete" && row.model_served === MODEL)).toBe(
    true,
  );
  expect(new Set(rows.map(({ index }) => index)).size).toBe(50);
  expect(gate.settled).toHaveLength(50);
  expect(proxy.totals().tokens.output).toBe(50 * 40);
});

const JSON_TYPE = { "content-type": "application/json" };
const error = (code: string): string => JSON.stringify({ error: { code, message: "no" } });
const chunk = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`;
const text = chunk({ choices: [{ index: 0, delta: { content: "half an ans" } }] });

describe("a status of success over what is no answer", () => {
  const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };

  test.each([
    { what: "an error object", body: error("overloaded"), failure: "error" },
    { what: "a request's own error", body: error("context_length_exceeded"), failure: "rejected" },
    { what: "nothing", body: "", failure: "empty" },
    { what: "a page", body: "<html>origin down</html>", failure: "empty" },
    {
      what: "no choice and no use",
      body: JSON.stringify({ object: "chat.completion", choices: [] }),
      failure: "empty",
    },
    {
      what: "an error within a stream",
      body: text + chunk({ error: { code: 502, message: "upstream" } }) + "data: [DONE]\n\n",
      failure: "error",
    },
    {
      what: "a stop that tells of an error",
      body: text + chunk({ choices: [{ index: 0, delta: {}, finish_reason: "error" }], usage }),
      failure: "error",
    },
    { what: "text whose usage never came", body: `${text}data: [DONE]\n\n`, failure: null },
  ])("with $what is told as such", async ({ body, failure }) => {
    const isStream = body.startsWith("data:");
    const origin = await aProvider((response) => {
      response.writeHead(200, isStream ? EVENTS : JSON_TYPE);
      response.end(body);
    });
    const { proxy, rows } = await aProxy(origin);
    await (await ask(proxy, { protocol: "openai-completions", stream: isStream })).text();
    await proxy.close();
    expect(rows[0]).toMatchObject({ end: "answered", upstream_status: 200 });
    expect(rows[0]?.reply_failure).toBe(failure);
  });

  test("ends the trial's calls when it comes again and again", async () => {
    const origin = await aProvider((response) => {
      response.writeHead(200, JSON_TYPE);
      response.end(error("overloaded"));
    });
    const { proxy } = await aProxy(origin, { limits: { failuresInRow: 3 } });
    for (let count = 0; count < 3; count += 1) await (await ask(proxy)).text();
    expect(proxy.stopped()).toMatchObject({ reason: "provider-failing" });
  });
});
