import { expect, test } from "vitest";
import { UsageMeter } from "../../../core/usage/usage-meter.ts";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { bytesOf } from "../../core/usage/rendered-replies.ts";
import type { ModelServer } from "../../fakes/model-server/start-model-server.ts";
import { aModelServer, PROTOCOLS, requestBody, requestPath, textOrCut } from "./proxy-fixture.ts";

function post(
  server: ModelServer,
  protocol: ModelProtocol,
  body: unknown,
  stream = true,
): Promise<Response> {
  return fetch(server.origin + requestPath(protocol, { stream }), {
    method: "POST",
    body: JSON.stringify(body),
  });
}

/** The request that follows when the agent has run the first turn's tool. */
function followUp(protocol: ModelProtocol): Record<string, unknown> {
  const body = requestBody(protocol);
  switch (protocol) {
    case "anthropic-messages":
      return {
        ...body,
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", content: [{ type: "tool_use", id: "t", name: "bash", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "ok" }] },
        ],
      };
    case "openai-completions":
      return {
        ...body,
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", tool_calls: [{ id: "a" }, { id: "b" }] },
          { role: "tool", tool_call_id: "a" },
          { role: "tool", tool_call_id: "b" },
        ],
      };
    case "openai-responses":
      return {
        ...body,
        input: [
          { role: "user", content: "hi" },
          { type: "reasoning" },
          { type: "function_call", call_id: "a" },
          { type: "function_call", call_id: "b" },
          { type: "function_call_output", call_id: "a" },
          { type: "function_call_output", call_id: "b" },
        ],
      };
    case "gemini":
      return {
        ...body,
        contents: [
          { role: "user", parts: [{ text: "hi" }] },
          { role: "model", parts: [{ functionCall: { name: "bash" } }] },
          { role: "user", parts: [{ functionResponse: { name: "bash" } }] },
        ],
      };
  }
}

test.each(PROTOCOLS)(
  "%s: the turn follows from the conversation, so a repeated request gets the same",
  async (protocol) => {
    const server = await aModelServer({
      turns: [{ shell: ["first command", "second"] }, { text: "the end" }],
    });
    for (const body of [
      requestBody(protocol),
      requestBody(protocol),
      followUp(protocol),
      followUp(protocol),
    ])
      await (await post(server, protocol, body)).text();
    expect(server.modelRequests().map(({ turn }) => turn)).toEqual([0, 0, 1, 1]);
    const text = await (
      await post(server, protocol, requestBody(protocol, { stream: false }), false)
    ).text();
    expect(text).toContain("first command");
    const last = await (await post(server, protocol, followUp(protocol))).text();
    const meter = new UsageMeter(protocol, "sse");
    meter.push(bytesOf(last));
    expect(meter.end().stopReason).toMatch(/^(?:end_turn|stop|completed|STOP)$/u);
  },
);

test("a request without a shell is a side request and takes no turn", async () => {
  const server = await aModelServer({ side: { text: "Fix the parser" } });
  const { tools: _tools, ...body } = requestBody("anthropic-messages");
  expect(await (await post(server, "anthropic-messages", body)).text()).toContain("Fix the parser");
  expect(server.modelRequests()[0]).toMatchObject({ kind: "side", turn: null });
});

test("a fault skips the first requests, holds for so many, then is over; side requests do not count", async () => {
  const server = await aModelServer({
    faults: [{ kind: "status", status: 503, after: 1, times: 2 }],
  });
  const { tools: _tools, ...side } = requestBody("gemini");
  const statuses: number[] = [];
  for (const body of [
    requestBody("gemini"),
    side,
    ...Array.from({ length: 3 }, () => requestBody("gemini")),
  ]) {
    const response = await post(server, "gemini", body);
    await response.text();
    statuses.push(response.status);
  }
  expect(statuses).toEqual([200, 200, 503, 503, 200]);
});

test("a cut stream has sent its first events, a reset nothing", async () => {
  const cut = await aModelServer({
    turns: [{ text: "x".repeat(500) }],
    faults: [{ kind: "cut", events: 3 }],
  });
  const response = await post(cut, "anthropic-messages", requestBody("anthropic-messages"));
  const reader = response.body?.getReader();
  const first = await reader?.read();
  expect(new TextDecoder().decode(first?.value)).toContain("message_start");
  await reader?.cancel();
  const reset = await aModelServer({ faults: [{ kind: "reset" }] });
  const answer = await post(reset, "gemini", requestBody("gemini")).then(textOrCut, () => "reset");
  expect(answer).toBe("reset");
});

test("usage is asked for in Chat Completions, or does not come", async () => {
  const server = await aModelServer();
  const plain = await (
    await post(server, "openai-completions", requestBody("openai-completions"))
  ).text();
  expect(plain).not.toContain("usage");
  const body = { ...requestBody("openai-completions"), stream_options: { include_usage: true } };
  expect(await (await post(server, "openai-completions", body)).text()).toContain(
    '"total_tokens":1040',
  );
});

test("a script that calls a tool which the agent does not offer fails loudly", async () => {
  const server = await aModelServer({ turns: [{ calls: [{ tool: "teleport" }] }] });
  const response = await post(server, "gemini", requestBody("gemini"));
  expect(response.status).toBe(500);
  expect(await response.text()).toContain("no tool teleport among bash");
});

test("everything that comes is in the journal as it came", async () => {
  const server = await aModelServer({ models: ["a", "b"] });
  const listed = await fetch(`${server.origin}/v1/models`, { headers: { "x-odd": "1" } });
  expect(await listed.json()).toMatchObject({ data: [{ id: "a" }, { id: "b" }] });
  expect((await fetch(`${server.origin}/v1/files?x=1`)).status).toBe(404);
  expect(server.journal).toMatchObject([
    {
      index: 0,
      method: "GET",
      path: "/v1/models",
      headers: { "x-odd": "1" },
      kind: "other",
      status: 200,
    },
    { index: 1, path: "/v1/files", query: "?x=1", status: 404 },
  ]);
  expect(server.modelRequests()).toEqual([]);
});
