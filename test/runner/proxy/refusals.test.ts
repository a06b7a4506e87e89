import { expect, test } from "vitest";
import { UsageMeter } from "../../../core/usage/usage-meter.ts";
import { bytesOf } from "../../core/usage/rendered-replies.ts";
import {
  aModelServer,
  aProxy,
  ask,
  FakeGate,
  MODEL,
  PROTOCOLS,
  requestBody,
  requestPath,
  until,
} from "./proxy-fixture.ts";

const BUDGET = { kind: "refused", reason: "budget", message: "the pot is empty" } as const;

test("the token is taken in every place where agents put a key, and nothing else is", async () => {
  const server = await aModelServer();
  const { proxy, rows } = await aProxy(server.origin);
  const body = JSON.stringify(requestBody("gemini"));
  const target = proxy.address + requestPath("gemini");
  const status = async (headers: Record<string, string>, search = ""): Promise<number> => {
    const response = await fetch(target + search, { method: "POST", headers, body });
    await response.text();
    return response.status;
  };
  expect(await status({ authorization: `Bearer ${proxy.token}` })).toBe(200);
  expect(await status({ "x-api-key": proxy.token })).toBe(200);
  expect(await status({ "x-goog-api-key": proxy.token })).toBe(200);
  expect(await status({ "api-key": proxy.token })).toBe(200);
  expect(await status({}, `&key=${proxy.token}`)).toBe(200);
  expect(await status({})).toBe(401);
  expect(await status({ authorization: proxy.token })).toBe(401);
  expect(await status({ "x-api-key": `${proxy.token}x` })).toBe(401);
  expect(await status({ cookie: proxy.token })).toBe(401);
  await proxy.close();
  expect(server.modelRequests()).toHaveLength(5);
  expect(rows.filter(({ refusal }) => refusal === "token")).toHaveLength(4);
});

test("another model is refused with an error, an alias is served by the run's model", async () => {
  const server = await aModelServer();
  const { proxy, rows } = await aProxy(server.origin, {
    models: { clientModel: "bench", upstreamModel: MODEL, aliases: ["claude-haiku-4-5"] },
  });
  for (const protocol of PROTOCOLS)
    expect((await ask(proxy, { protocol, model: "gpt-5.6-luna" })).status).toBe(400);
  const listed = await ask(proxy, {
    protocol: "openai-completions",
    body: { ...requestBody("openai-completions", { model: "bench" }), models: ["gpt-5.5-pro"] },
  });
  expect(listed.status).toBe(400);
  expect((await ask(proxy, { model: "claude-haiku-4-5" })).status).toBe(200);
  await proxy.close();
  expect(server.modelRequests().map(({ body }) => (body as { model: string }).model)).toEqual([
    MODEL,
  ]);
  expect(rows.filter(({ refusal }) => refusal === "model_not_allowed")).toHaveLength(5);
});

for (const protocol of PROTOCOLS)
  for (const stream of [true, false])
    test(`${protocol}, stream ${stream}: a refusal by the pot is a finished turn, and the last word`, async () => {
      const server = await aModelServer();
      const gate = new FakeGate();
      gate.decide = () => BUDGET;
      const { proxy, rows, events } = await aProxy(server.origin, { gate });
      for (let index = 0; index < 3; index += 1) {
        const response = await ask(proxy, { protocol, stream });
        expect(response.status).toBe(200);
        const text = await response.text();
        expect(text).toContain("this run is stopped (budget)");
        const meter = new UsageMeter(protocol, stream ? "sse" : "json");
        meter.push(bytesOf(text));
        // A well-formed reply that used nothing; the meter's own rule against that is not for us.
        const reading = meter.end();
        expect(reading.stopReason).toMatch(/^(?:end_turn|stop|completed|STOP)$/u);
        expect(reading.unreadableEvents).toBe(0);
      }
      await proxy.close();
      expect(server.journal).toEqual([]);
      expect(gate.claims).toHaveLength(1);
      expect(gate.settled).toEqual([]);
      expect(events).toEqual([{ type: "stopped", reason: "budget", message: "the pot is empty" }]);
      expect(rows.map(({ end, refusal, cost_status }) => [end, refusal, cost_status])).toEqual(
        Array.from({ length: 3 }, () => ["refused", "budget", "none"]),
      );
    });

test("a trial's own limit ends its calls under its own name", async () => {
  const server = await aModelServer();
  const gate = new FakeGate();
  gate.decide = () => ({ kind: "refused", reason: "trial-limit", message: "5 dollars" });
  const { proxy, events } = await aProxy(server.origin, { gate });
  expect(await (await ask(proxy)).text()).toContain("this run is stopped (trial-limit)");
  expect(events).toEqual([{ type: "stopped", reason: "trial-limit", message: "5 dollars" }]);
});

test("a call of unbounded cost is refused by itself, the next one is served", async () => {
  const server = await aModelServer();
  const gate = new FakeGate();
  gate.decide = ({ unbounded }, index) =>
    unbounded.length > 0
      ? { kind: "refused", reason: "unbounded", message: unbounded.join(", ") }
      : { kind: "lease", lease: { id: String(index) } };
  const { proxy } = await aProxy(server.origin, { gate });
  const body = { ...requestBody("openai-responses"), previous_response_id: "resp_1" };
  const refused = await ask(proxy, { protocol: "openai-responses", body });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: { code: "unbounded", message: "previous_response_id" },
  });
  expect((await ask(proxy, { protocol: "openai-responses" })).status).toBe(200);
  expect(server.modelRequests()).toHaveLength(1);
});

test("a ledger that cannot be asked stops all spending", async () => {
  const server = await aModelServer();
  const gate = new FakeGate();
  gate.decide = () => Promise.reject(new Error("disk gone"));
  const { proxy, events } = await aProxy(server.origin, { gate });
  expect(await (await ask(proxy)).text()).toContain("stopped (ledger)");
  expect(server.journal).toEqual([]);
  expect(events).toEqual([{ type: "stopped", reason: "ledger", message: "disk gone" }]);
});

test("a settlement that fails lets the reply through and stops all further spending", async () => {
  const server = await aModelServer();
  const gate = new FakeGate();
  gate.settle = () => Promise.reject(new Error("torn line"));
  const { proxy, events } = await aProxy(server.origin, { gate });
  expect(await (await ask(proxy)).text()).toContain("message_stop");
  await until(
    () => events.length,
    (length) => length > 0,
  );
  expect(await (await ask(proxy)).text()).toContain("stopped (ledger)");
  expect(server.modelRequests()).toHaveLength(1);
});

test("a call waits with heartbeats while the pot is taken, and the wait is held time", async () => {
  const server = await aModelServer();
  const gate = new FakeGate();
  gate.decide = (_claim, index) =>
    index < 4
      ? { kind: "wait", retryAfterMs: 60 }
      : { kind: "lease", lease: { id: String(index) } };
  const { proxy, rows } = await aProxy(server.origin, { gate });
  const text = await (await ask(proxy)).text();
  expect(text).toMatch(/^event: ping\n/u);
  expect(text).toContain("message_stop");
  await proxy.close();
  expect(rows[0]?.held_ms).toBeGreaterThan(200);
  expect(rows[0]?.held_ms).toBeLessThan(rows[0]?.duration_ms ?? 0);
  expect(proxy.totals().heldMs).toBeGreaterThan(200);
});

test("time held by two requests at once counts once", async () => {
  const server = await aModelServer();
  const gate = new FakeGate();
  const start = performance.now();
  gate.decide = (_claim, index) =>
    performance.now() - start < 300
      ? { kind: "wait", retryAfterMs: 20 }
      : { kind: "lease", lease: { id: String(index) } };
  const { proxy, rows } = await aProxy(server.origin, { gate });
  await Promise.all([1, 2, 3].map(async () => (await ask(proxy)).text()));
  await proxy.close();
  const sumMs = rows.reduce((sum, row) => sum + row.held_ms, 0);
  expect(sumMs).toBeGreaterThan(600);
  expect(proxy.totals().heldMs).toBeLessThan(sumMs / 1.5);
});

test.each(PROTOCOLS)(
  "after a heartbeat a refusal of %s is still a finished turn",
  async (protocol) => {
    const server = await aModelServer();
    const gate = new FakeGate();
    gate.decide = (_claim, index) => (index < 4 ? { kind: "wait", retryAfterMs: 40 } : BUDGET);
    const { proxy } = await aProxy(server.origin, { gate });
    const response = await ask(proxy, { protocol });
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text.startsWith(protocol === "anthropic-messages" ? "event: ping" : ": waiting")).toBe(
      true,
    );
    const meter = new UsageMeter(protocol, "sse");
    meter.push(bytesOf(text));
    expect(meter.end().stopReason).not.toBeNull();
    expect(server.journal).toEqual([]);
  },
);

test("a call that the pot keeps waiting too long is told to come back", async () => {
  const server = await aModelServer();
  const gate = new FakeGate();
  gate.decide = () => ({ kind: "wait", retryAfterMs: 30 });
  const { proxy, rows } = await aProxy(server.origin, { gate, limits: { firstByteMs: 150 } });
  const response = await ask(proxy, { stream: false });
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("5");
  await proxy.close();
  expect(rows[0]).toMatchObject({ end: "refused", refusal: "held_too_long" });
  expect(proxy.stopped()?.reason).toBe("trial-ended");
});

test("a lease that comes when nobody waits any more goes back", async () => {
  const server = await aModelServer();
  const gate = new FakeGate();
  gate.decide = () =>
    new Promise((resolve) => {
      setTimeout(resolve, 250, { kind: "lease", lease: { id: "late" } });
    });
  const { proxy } = await aProxy(server.origin, { gate, limits: { firstByteMs: 100 } });
  expect((await ask(proxy, { stream: false })).status).toBe(503);
  await until(
    () => gate.settled,
    (settled) => settled.length > 0,
  );
  expect(gate.settled).toEqual([{ id: "late", actual: { kind: "unused" } }]);
  expect(server.journal).toEqual([]);
});

test("counts of tokens and the list of models are answered here, whatever the provider does", async () => {
  const server = await aModelServer();
  const { proxy, rows } = await aProxy(server.origin);
  const headers = { "x-api-key": proxy.token };
  const post = async (path: string, body: string): Promise<unknown> =>
    (await fetch(proxy.address + path, { method: "POST", headers, body })).json();
  const get = async (path: string): Promise<unknown> =>
    (await fetch(proxy.address + path, { headers })).json();
  expect(await post("/v1/messages/count_tokens", "x".repeat(400))).toEqual({ input_tokens: 100 });
  expect(await post(`/v1beta/models/${MODEL}:countTokens`, "12345678")).toEqual({ totalTokens: 2 });
  expect(await get("/v1/models")).toMatchObject({ data: [{ id: MODEL }] });
  expect(await get(`/v1beta/models/${MODEL}`)).toMatchObject({ name: `models/${MODEL}` });
  expect((await fetch(`${proxy.address}/v1/models/other`, { headers })).status).toBe(404);
  expect((await fetch(`${proxy.address}/v1/models`)).status).toBe(401);
  const head = await fetch(proxy.address, { method: "HEAD" });
  expect(head.status).toBe(200);
  await proxy.close();
  expect(server.journal).toEqual([]);
  expect(rows).toHaveLength(1);
});
