import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { recordOf } from "../../../core/usage/json-view.ts";
import {
  aModelServer,
  ask,
  atEnd,
  PROTOCOLS,
  PROVIDER_KEY,
  textOrCut,
} from "../proxy/proxy-fixture.ts";
import { PAIRS, readAsAgent } from "./translate-reply.ts";
import { aTranslatingProxy } from "./translating-proxy.ts";

const ERROR_TYPES: Readonly<Record<ModelProtocol, (status: number, message: string) => unknown>> = {
  "anthropic-messages": (_status, message) => ({ type: "error", error: { message } }),
  "openai-completions": (_status, message) => ({ error: { message } }),
  "openai-responses": (_status, message) => ({ error: { message } }),
  gemini: (status, message) => ({ error: { code: status, message } }),
};

const OVERFLOWS = {
  "anthropic-messages": { message: expect.stringMatching(/^prompt is too long/u) },
  "openai-completions": { code: "context_length_exceeded" },
  "openai-responses": { code: "context_length_exceeded" },
  gemini: { message: expect.stringMatching(/exceeds the maximum number of tokens allowed/u) },
} as const;

describe("a provider's refusal", () => {
  test.for(PAIRS)("of $from has its status and its words in the shape of $to", async (pair) => {
    const { from: to, to: from } = pair;
    for (const status of [400, 404, 429, 500, 529]) {
      const server = await aModelServer({
        faults: [
          {
            kind: "status",
            status,
            message: `odd ${String(status)}`,
            headers: { "retry-after": "7" },
          },
        ],
      });
      const { proxy, rows } = await aTranslatingProxy(server.origin, from, to);
      const response = await ask(proxy, { protocol: from });
      expect(response.status).toBe(status);
      expect(response.headers.get("retry-after")).toBe("7");
      expect(await response.json()).toMatchObject(
        recordOf(ERROR_TYPES[from](status, `odd ${String(status)}`)),
      );
      await proxy.close();
      expect(rows[0]).toMatchObject({ status, upstream_status: status, cost_status: "none" });
    }
  });

  test.for(PAIRS)(
    "of $from for a prompt too long is told as agents of $to look for it",
    async (pair) => {
      const { from: to, to: from } = pair;
      const server = await aModelServer({ faults: [{ kind: "context-overflow" }] });
      const { proxy } = await aTranslatingProxy(server.origin, from, to);
      const response = await ask(proxy, { protocol: from });
      expect(response.status).toBe(400);
      expect(recordOf(await response.json())["error"]).toMatchObject(OVERFLOWS[from]);
    },
  );

  test("about the key is told without the provider's words", async () => {
    const server = await aModelServer({
      faults: [{ kind: "status", status: 401, message: `bad key ${PROVIDER_KEY}` }],
    });
    const { proxy } = await aTranslatingProxy(server.origin, "gemini", "openai-completions");
    const response = await ask(proxy, { protocol: "gemini" });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({
      error: { code: 401, status: "UNAUTHENTICATED", message: "the provider answered 401" },
    });
  });
});

const BREAKS = PAIRS.flatMap(({ from: to, to: from }) => [
  { from, to, stream: true, fault: { kind: "cut", events: 2 } as const },
  { from, to, stream: true, fault: { kind: "no-usage" } as const },
  { from, to, stream: false, fault: { kind: "cut", events: 2 } as const },
]);

test.for(BREAKS)(
  "an answer of $to that breaks off ($fault.kind, stream $stream) is none for an agent of $from, and charged in full",
  async ({ from, to, stream, fault }) => {
    const turns = [{ reasoning: "a", text: "b".repeat(60) }];
    const server = await aModelServer({ turns, faults: [fault] });
    const { proxy, rows } = await aTranslatingProxy(server.origin, from, to);
    const told = await ask(proxy, { protocol: from, stream }).then(textOrCut, () => "cut");
    expect(told).toBe("cut");
    await proxy.close();
    expect(rows[0]).toMatchObject({ end: "cut", cost_status: "reserved", tokens: null });
  },
);

/** A provider of Chat Completions that answers every call with one text. */
async function aServerOf(type: string, text: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": type });
    response.end(text);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  atEnd(async () => server.close());
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${String(port)}`;
}

describe("a good status over what is no answer", () => {
  const error = JSON.stringify({
    error: { type: "server_error", message: `down ${PROVIDER_KEY}` },
  });
  test.each([
    { what: "an error", type: "application/json", text: error, failure: "error", status: 502 },
    {
      what: "an error in a stream",
      type: "text/event-stream",
      text: `data: ${error}\n\n`,
      failure: "error",
      status: 502,
    },
    {
      what: "a mistake in the request",
      type: "application/json",
      text: error.replace("server_error", "invalid_request_error"),
      failure: "rejected",
      status: 400,
    },
    { what: "nothing", type: "text/event-stream", text: "", failure: "empty", status: 502 },
    { what: "a page", type: "text/html", text: "<html>busy</html>", failure: "empty", status: 502 },
  ] as const)(
    "is an error for the agent when it is $what",
    async ({ type, text, failure, status }) => {
      const origin = await aServerOf(type, text);
      const { proxy, rows } = await aTranslatingProxy(
        origin,
        "anthropic-messages",
        "openai-completions",
      );
      const response = await ask(proxy, { stream: type === "text/event-stream" });
      expect(response.status).toBe(status);
      const said = await response.text();
      expect(recordOf(JSON.parse(said))["type"]).toBe("error");
      expect(said).not.toContain(PROVIDER_KEY);
      await proxy.close();
      expect(rows[0]).toMatchObject({ upstream_status: 200, reply_failure: failure, status });
    },
  );

  test("is a failed stream when its error comes late", async () => {
    const chunk = { choices: [{ index: 0, delta: { content: "so far" } }] };
    const events = `data: ${JSON.stringify(chunk)}\n\ndata: ${error}\n\n`;
    const origin = await aServerOf("text/event-stream", events);
    for (const protocol of PROTOCOLS.filter((each) => each !== "openai-completions")) {
      const { proxy, rows } = await aTranslatingProxy(origin, protocol, "openai-completions");
      const text = await (await ask(proxy, { protocol })).text();
      expect(readAsAgent(protocol, "sse", text).reading.error).toMatch(/down/u);
      expect(text).not.toContain(PROVIDER_KEY);
      await proxy.close();
      expect(rows[0]).toMatchObject({ reply_failure: "error", cost_status: "reserved" });
    }
  });
});
