import { describe, expect, test } from "vitest";
import { listOf, recordOf } from "../../../core/usage/json-view.ts";
import { aModelServer, ask, MODEL, PROVIDER_KEY, requestBody } from "../proxy/proxy-fixture.ts";
import { PAIRS, readAsAgent } from "./translate-reply.ts";
import { aTranslatingProxy } from "./translating-proxy.ts";

const TURN = { text: "hëllo 🎉", reasoning: "hm", shell: ["ls -la", "cat 'a b'"] };
const USED = { input: 350, output: 40, cacheRead: 600, cacheWrite5m: 50, cacheWrite1h: 0 };
const WITHOUT_WRITES = { ...USED, input: 400, cacheWrite5m: 0 };

const ASKED = PAIRS.flatMap(({ from: to, to: from }) =>
  [true, false].map((stream) => ({ from, to, stream })),
);

describe("a call that is translated", () => {
  test.for(ASKED)(
    "$from on $to, stream $stream: is answered, and paid by the provider's own count",
    async ({ from, to, stream }) => {
      const server = await aModelServer({ turns: [TURN] });
      const { proxy, rows, gate, exchanges } = await aTranslatingProxy(server.origin, from, to);
      const response = await ask(proxy, { protocol: from, stream });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      expect(response.headers.get("content-type")).toMatch(stream ? /event-stream/u : /json/u);
      await proxy.close();
      const { reading, body } = readAsAgent(from, stream ? "sse" : "json", text);
      const told = [from, to].includes("gemini") ? WITHOUT_WRITES : USED;
      expect(reading).toMatchObject({ status: "complete", tokens: told, model: MODEL });
      const said = JSON.stringify(body);
      for (const part of ["hëllo 🎉", "hm", "ls -la", "cat 'a b'"]) expect(said).toContain(part);
      const tokens = to === "gemini" ? WITHOUT_WRITES : USED;
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
          tokens,
          cost_status: "priced",
          anomaly: null,
          translation: { to, left_out: [] },
        }),
      ]);
      expect(rows[0]?.sampling?.max_tokens).toBe(1000);
      expect(gate.settled).toMatchObject([{ actual: { kind: "used", tokens } }]);
      const [seen] = server.modelRequests();
      expect(seen).toMatchObject({ protocol: to, status: 200 });
      expect(exchanges[0]?.request.body).toEqual(seen?.body);
      expect(exchanges[0]?.request.agent_body).toEqual(requestBody(from, { stream }));
      expect(JSON.stringify(exchanges[0]?.response.body)).toContain("hëllo 🎉");
    },
  );

  test("goes to the provider with its own headers, and nothing of the agent's vendor", async () => {
    const server = await aModelServer();
    const { proxy } = await aTranslatingProxy(
      server.origin,
      "openai-responses",
      "anthropic-messages",
    );
    const headers = { "openai-beta": "x", "anthropic-beta": "y", "user-agent": "codex/1" };
    await (await ask(proxy, { protocol: "openai-responses", headers })).text();
    const seen = server.modelRequests()[0]?.headers ?? {};
    expect(seen).toMatchObject({ "anthropic-version": "2023-06-01", "user-agent": "codex/1" });
    expect(seen).not.toHaveProperty("openai-beta");
    expect(seen).not.toHaveProperty("anthropic-beta");
    expect(seen["authorization"]).toBe(`Bearer ${PROVIDER_KEY}`);
  });

  test("brings the thoughts of its calls back to the provider with their signatures", async () => {
    const server = await aModelServer({ turns: [TURN, { text: "done" }] });
    const to = "anthropic-messages";
    const { proxy } = await aTranslatingProxy(server.origin, "openai-completions", to);
    const first = await ask(proxy, { protocol: "openai-completions", stream: false });
    const message = recordOf(
      recordOf(listOf(recordOf(await first.json())["choices"])[0])["message"],
    );
    const { reasoning_content: _thought, ...bare } = message;
    const results = listOf(message["tool_calls"]).map((call) => ({
      role: "tool",
      tool_call_id: recordOf(call)["id"],
      content: "done",
    }));
    const asked = requestBody("openai-completions");
    const messages = [...listOf(asked["messages"]), bare, ...results];
    await (
      await ask(proxy, { protocol: "openai-completions", body: { ...asked, messages } })
    ).text();
    const sent = recordOf(server.modelRequests()[1]?.body);
    const assistant = listOf(sent["messages"]).find(
      (each) => recordOf(each)["role"] === "assistant",
    );
    expect(recordOf(assistant)["content"]).toMatchObject([
      { type: "thinking", thinking: "hm", signature: "c2lnbmVk" },
      { type: "text", text: "hëllo 🎉" },
      { type: "tool_use", input: { command: "ls -la" } },
      { type: "tool_use", input: { command: "cat 'a b'" } },
    ]);
  });

  test("that cannot be carried is refused in the agent's words, recorded, and never sent", async () => {
    const server = await aModelServer();
    const { proxy, rows, gate, exchanges } = await aTranslatingProxy(
      server.origin,
      "anthropic-messages",
      "openai-completions",
    );
    const source = { type: "base64", media_type: "application/pdf", data: "" };
    const content = [{ type: "document", source }];
    const messages = [{ role: "user", content }];
    const response = await ask(proxy, { body: { ...requestBody("anthropic-messages"), messages } });
    expect(response.status).toBe(400);
    const message = "a document of type application/pdf cannot be put into openai-completions";
    const error = { type: "error", error: { type: "invalid_request_error", message } };
    expect(await response.json()).toEqual(error);
    await proxy.close();
    expect(rows).toMatchObject([{ end: "refused", refusal: "not_translatable", status: 400 }]);
    expect(exchanges[0]?.response.body).toEqual(error);
    expect(gate.claims).toEqual([]);
    expect(server.modelRequests()).toEqual([]);
  });

  test("is held to the user's limit of the answer, by the provider's own name for it", async () => {
    const server = await aModelServer();
    const { proxy, rows } = await aTranslatingProxy(server.origin, "gemini", "openai-completions", {
      maxOutputTokens: 200,
    });
    await (await ask(proxy, { protocol: "gemini" })).text();
    await proxy.close();
    expect(server.modelRequests()[0]?.body).toMatchObject({ max_tokens: 200 });
    expect(rows[0]?.sampling?.max_tokens).toBe(200);
  });

  test("of a stopped trial gets a finished turn in the agent's own protocol", async () => {
    const server = await aModelServer();
    for (const { from: to, to: from } of PAIRS) {
      const { proxy } = await aTranslatingProxy(server.origin, from, to);
      proxy.stop("budget", "no money");
      const text = await (await ask(proxy, { protocol: from })).text();
      const { reading } = readAsAgent(from, "sse", text);
      expect(reading.error, text).toBeNull();
      expect(text).toContain("this run is stopped");
    }
    expect(server.modelRequests()).toEqual([]);
  });

  test("whose answer passes its limit is ended as the agent's own provider would end it", async () => {
    const server = await aModelServer({ faults: [{ kind: "huge-body", bytes: 200_000 }] });
    const { proxy, rows } = await aTranslatingProxy(
      server.origin,
      "anthropic-messages",
      "openai-completions",
    );
    const text = await (await ask(proxy)).text();
    await proxy.close();
    const { body } = readAsAgent("anthropic-messages", "sse", text);
    expect(body).toMatchObject({ type: "message", stop_reason: "max_tokens" });
    expect(rows[0]).toMatchObject({ end: "capped", cost_status: "reserved" });
  });
});
