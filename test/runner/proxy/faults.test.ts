import { expect, test } from "vitest";
import {
  aModelServer,
  aProxy,
  ask,
  PROTOCOLS,
  PROVIDER_KEY,
  textOrCut,
  until,
} from "./proxy-fixture.ts";

const SHORT = { firstByteMs: 250, idleMs: 250 };

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a provider's refusal passes with its status, and is free`, async () => {
    for (const status of [400, 404, 413, 429, 500, 503, 529]) {
      const server = await aModelServer({
        faults: [{ kind: "status", status, message: "the reason" }],
      });
      const { proxy, rows, gate } = await aProxy(server.origin);
      const response = await ask(proxy, { protocol });
      expect(response.status).toBe(status);
      expect(await response.text()).toContain("the reason");
      const waits = [429, 503, 529].includes(status);
      expect(response.headers.get("retry-after")).toBe(waits ? "5" : null);
      await proxy.close();
      expect(rows[0]).toMatchObject({
        end: "answered",
        status,
        upstream_status: status,
        cost_status: "none",
      });
      expect(gate.settled).toEqual([{ id: "0", actual: { kind: "unused" } }]);
    }
  });

  test(`${protocol}: a refused key is told in our words, and to the caller`, async () => {
    for (const status of [401, 402, 403]) {
      const message = `Incorrect API key provided: ${PROVIDER_KEY.slice(0, 9)}****ider`;
      const server = await aModelServer({ faults: [{ kind: "status", status, message }] });
      const { proxy, events, exchanges } = await aProxy(server.origin);
      const response = await ask(proxy, { protocol });
      expect(response.status).toBe(status);
      const text = await response.text();
      expect(text).toContain(`the provider answered ${status}`);
      expect(text).not.toContain(PROVIDER_KEY.slice(0, 9));
      await proxy.close();
      expect(events[0]).toEqual({ type: "provider-refused", status, index: 0 });
      expect(exchanges[0]?.response.status_code).toBe(status);
      expect(JSON.stringify(exchanges)).not.toContain(PROVIDER_KEY.slice(0, 9));
    }
  });

  test(`${protocol}: a prompt that is too long is told in the provider's words`, async () => {
    const server = await aModelServer({ faults: [{ kind: "context-overflow" }] });
    const { proxy } = await aProxy(server.origin);
    const response = await ask(proxy, { protocol });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/too long|exceeds the maximum|context_length_exceeded/u);
  });

  test(`${protocol}: no first byte is a 504 within the limit, charged in full`, async () => {
    const server = await aModelServer({ faults: [{ kind: "hang" }] });
    const { proxy, rows, gate } = await aProxy(server.origin, { limits: SHORT });
    const start = performance.now();
    const response = await ask(proxy, { protocol });
    expect(response.status).toBe(504);
    expect(performance.now() - start).toBeLessThan(10_000);
    await proxy.close();
    expect(rows[0]).toMatchObject({
      end: "timeout",
      status: 504,
      upstream_status: null,
      cost_status: "reserved",
    });
    expect(rows[0]?.cost_micro_usd).toBe(gate.claims[0]?.costMicroUsd);
    expect(rows[0]?.estimate?.input).toBeGreaterThan(50);
    expect(gate.settled[0]?.actual.kind).toBe("unknown");
    await until(() => server.modelRequests()[0]?.aborted, Boolean);
  });

  test.each(["stall", "cut"] as const)(
    `${protocol}: a stream that breaks off by %s is a break for the agent too, charged in full`,
    async (kind) => {
      const server = await aModelServer({
        turns: [{ reasoning: "a", text: "b", shell: "c" }],
        faults: [{ kind, events: 2 }],
      });
      const { proxy, rows, gate } = await aProxy(server.origin, { limits: SHORT });
      const response = await ask(proxy, { protocol });
      expect(response.status).toBe(200);
      expect(await textOrCut(response)).toBe("cut");
      await proxy.close();
      expect(rows[0]).toMatchObject({
        end: kind === "stall" ? "timeout" : "cut",
        status: 200,
        usage_status: "incomplete",
        tokens: null,
        cost_status: "reserved",
      });
      expect(rows[0]?.cost_micro_usd).toBe(gate.claims[0]?.costMicroUsd);
      expect(gate.settled[0]?.actual.kind).toBe("unknown");
      expect(proxy.totals().incomplete).toBe(1);
    },
  );

  test(`${protocol}: a clean end in the middle of an answer is a break too, charged in full`, async () => {
    const server = await aModelServer({
      turns: [{ reasoning: "a", text: "b".repeat(60) }],
      faults: [{ kind: "no-usage" }],
    });
    const { proxy, rows, gate } = await aProxy(server.origin);
    expect(await textOrCut(await ask(proxy, { protocol }))).toBe("cut");
    await proxy.close();
    expect(rows[0]).toMatchObject({
      end: "cut",
      status: 200,
      usage_status: "incomplete",
      cost_status: "reserved",
    });
    expect(gate.settled[0]?.actual.kind).toBe("unknown");
  });
}

test("a reset before any answer is a 502, charged in full and never tried again by us", async () => {
  const server = await aModelServer({ faults: [{ kind: "reset" }] });
  const { proxy, rows } = await aProxy(server.origin, { limits: { upstreamTries: 3 } });
  expect((await ask(proxy)).status).toBe(502);
  await proxy.close();
  expect(server.modelRequests()).toHaveLength(1);
  expect(rows[0]).toMatchObject({ end: "unreachable", upstream_tries: 1, cost_status: "reserved" });
});

test("a provider that cannot be reached is tried again, and costs nothing", async () => {
  const { proxy, rows, gate } = await aProxy("http://127.0.0.1:9", {
    limits: { upstreamTries: 3 },
  });
  const response = await ask(proxy);
  expect(response.status).toBe(502);
  expect(await response.text()).toContain("cannot reach the provider (ECONNREFUSED)");
  await proxy.close();
  expect(rows[0]).toMatchObject({ end: "unreachable", upstream_tries: 3, cost_status: "none" });
  expect(gate.settled[0]?.actual.kind).toBe("unused");
});

test("a busy provider is waited for, and the agent sees only the answer", async () => {
  const server = await aModelServer({
    faults: [{ kind: "status", status: 429, times: 2, headers: { "retry-after": "0.1" } }],
  });
  const { proxy, rows, gate } = await aProxy(server.origin, { limits: { upstreamTries: 3 } });
  const response = await ask(proxy);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("message_stop");
  await proxy.close();
  expect(rows[0]).toMatchObject({ upstream_tries: 3, upstream_status: 200, cost_status: "priced" });
  expect(rows[0]?.held_ms).toBeGreaterThan(180);
  expect(gate.claims).toHaveLength(1);
  expect(gate.settled).toHaveLength(1);
});

test("a wait longer than a request may be held is left to the agent", async () => {
  const server = await aModelServer({
    faults: [{ kind: "status", status: 429, headers: { "retry-after": "30" } }],
  });
  const { proxy } = await aProxy(server.origin, { limits: { upstreamTries: 3 } });
  const response = await ask(proxy);
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toBe("30");
  expect(server.modelRequests()).toHaveLength(1);
});

test("after a heartbeat a refusal is told within the stream", async () => {
  const faults = [{ kind: "status" as const, status: 429, headers: { "retry-after": "0.1" } }];
  for (const protocol of PROTOCOLS) {
    const server = await aModelServer({ faults });
    const { proxy, rows } = await aProxy(server.origin, { limits: { upstreamTries: 3 } });
    const response = await ask(proxy, { protocol });
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(
      /data: .*error.*the provider answered 429: scripted fault 429/u,
    );
    await proxy.close();
    expect(rows[0]).toMatchObject({ status: 200, upstream_status: 429 });
  }
});

test("requests that fail in a row are counted, and the trial ends before they cost more", async () => {
  const server = await aModelServer({ faults: [{ kind: "cut", events: 2, after: 1 }] });
  const { proxy, rows, events } = await aProxy(server.origin, { limits: { failuresInRow: 3 } });
  await (await ask(proxy)).text();
  for (let index = 0; index < 5; index += 1) await textOrCut(await ask(proxy));
  await proxy.close();
  expect(server.modelRequests()).toHaveLength(4);
  expect(rows.map((row) => row.try)).toEqual([1, 1, 2, 3, 4, 4]);
  expect(rows.map((row) => row.refusal).slice(3)).toEqual([
    null,
    "provider-failing",
    "provider-failing",
  ]);
  expect(events).toContainEqual({
    type: "stopped",
    reason: "provider-failing",
    message: "3 requests failed in a row, the last with 200",
  });
});

test("what the agent caused itself is no failure of the provider", async () => {
  const server = await aModelServer({ faults: [{ kind: "context-overflow" }] });
  const { proxy } = await aProxy(server.origin, { limits: { failuresInRow: 3 } });
  for (let index = 0; index < 6; index += 1) expect((await ask(proxy)).status).toBe(400);
  expect(proxy.stopped()).toBeNull();
});

test("impossible usage is an anomaly, charged in full and told", async () => {
  const server = await aModelServer({
    faults: [{ kind: "wrong-usage", usage: { input_tokens: -5, output_tokens: 3 } }],
  });
  const { proxy, rows, events } = await aProxy(server.origin);
  await (await ask(proxy)).text();
  await proxy.close();
  expect(rows[0]).toMatchObject({
    usage_status: "anomaly",
    cost_status: "reserved",
    anomaly: "negative: input_tokens is -5",
  });
  expect(events[0]).toEqual({ type: "anomaly", index: 0, message: "negative: input_tokens is -5" });
});

test("text that used no output is an anomaly", async () => {
  const server = await aModelServer({
    faults: [{ kind: "wrong-usage", usage: { input_tokens: 5, output_tokens: 0 } }],
  });
  const { proxy, rows } = await aProxy(server.origin);
  await (await ask(proxy)).text();
  await proxy.close();
  expect(rows[0]).toMatchObject({
    usage_status: "complete",
    cost_status: "reserved",
    anomaly: "an answer of text that used no output",
  });
});

test("more used than was reserved stops the trial, and the real figure is charged", async () => {
  const server = await aModelServer({
    faults: [{ kind: "wrong-usage", usage: { input_tokens: 50, output_tokens: 1001 } }],
  });
  const { proxy, events, gate } = await aProxy(server.origin);
  await (await ask(proxy)).text();
  expect(await (await ask(proxy)).text()).toContain("stopped (anomaly)");
  await proxy.close();
  expect(gate.settled[0]?.actual).toMatchObject({ kind: "used", costMicroUsd: 5055 });
  expect(events.map(({ type }) => type)).toEqual(["anomaly", "stopped"]);
});

test("an unknown price is null with its status, never zero (failures C-38)", async () => {
  const server = await aModelServer();
  const { proxy, rows, gate } = await aProxy(server.origin, { prices: { find: () => null } });
  await (await ask(proxy)).text();
  await proxy.close();
  expect(rows[0]).toMatchObject({
    cost_micro_usd: null,
    cost_status: "unpriced",
    price_source: null,
  });
  expect(gate.claims[0]?.costMicroUsd).toBeNull();
  expect(gate.settled[0]?.actual).toMatchObject({ kind: "used", costMicroUsd: null });
  expect(proxy.totals().costMicroUsd).toBeNull();
});
