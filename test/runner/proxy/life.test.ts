import { mkdtemp, rm, stat } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { ExchangeLog } from "../../../runner/proxy/exchange-log.ts";
import {
  aModelServer,
  aProxy,
  ask,
  atEnd,
  FakeGate,
  MODEL,
  PROTOCOLS,
  requestBody,
  textOrCut,
  until,
} from "./proxy-fixture.ts";

const LONG = { turns: [{ text: "word ".repeat(400) }], eventDelayMs: 20 };

test("stop breaks off what is in flight, at the provider too, and refuses everything later (failures C-39)", async () => {
  const server = await aModelServer(LONG);
  const { proxy, rows, gate } = await aProxy(server.origin);
  const flowing = await ask(proxy);
  const text = textOrCut(flowing);
  await until(
    () => server.modelRequests().length,
    (length) => length === 1,
  );
  proxy.stop("cancelled", "the trial was cancelled");
  expect(await text).toBe("cut");
  await until(() => server.modelRequests()[0]?.aborted, Boolean);
  expect(await (await ask(proxy)).text()).toContain("stopped (cancelled)");
  await proxy.close();
  expect(server.modelRequests()).toHaveLength(1);
  expect(rows.map(({ end }) => end)).toEqual(["stopped", "refused"]);
  expect(gate.settled[0]?.actual.kind).toBe("unknown");
});

test("stop ends a wait for the pot", async () => {
  const server = await aModelServer();
  const gate = new FakeGate();
  gate.decide = () => new Promise(() => {});
  const { proxy, events } = await aProxy(server.origin, {
    gate,
    limits: { firstByteMs: 60_000, settleMs: 50 },
  });
  const waiting = ask(proxy, { stream: false }).then(textOrCut, () => "cut");
  await until(
    () => gate.claims.length,
    (length) => length === 1,
  );
  proxy.stop("cancelled", "cancelled");
  expect(await waiting).toBe("cut");
  await proxy.close();
  expect(events.at(-1)).toMatchObject({ type: "anomaly", message: "a settlement never ended" });
});

test("an agent that goes away takes its request with it, charged in full", async () => {
  const server = await aModelServer(LONG);
  const { proxy, rows, gate } = await aProxy(server.origin);
  const controller = new AbortController();
  const response = await ask(proxy, { signal: controller.signal });
  await response.body?.getReader().read();
  controller.abort();
  await until(() => server.modelRequests()[0]?.aborted, Boolean);
  await until(
    () => rows.length,
    (length) => length === 1,
  );
  expect(rows[0]).toMatchObject({
    end: "aborted",
    usage_status: "incomplete",
    cost_status: "reserved",
  });
  expect(gate.settled[0]?.actual.kind).toBe("unknown");
});

test("close waits until the last call is settled and recorded, and can be called twice", async () => {
  const server = await aModelServer(LONG);
  const gate = new FakeGate();
  const ended: string[] = [];
  gate.settle = async (lease) => {
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    ended.push(lease.id);
  };
  const { proxy, rows } = await aProxy(server.origin, { gate });
  const text = textOrCut(await ask(proxy));
  await Promise.all([proxy.close(), proxy.close()]);
  expect(await text).toBe("cut");
  expect(ended).toEqual(["0"]);
  expect(rows).toHaveLength(1);
  await expect(fetch(proxy.address)).rejects.toThrow("fetch failed");
});

test("a slow reader holds the provider back, and its time is not the provider's", async () => {
  const server = await aModelServer({
    turns: [{ text: "x".repeat(24) }],
    faults: [{ kind: "huge-body", bytes: 30_000_000 }],
  });
  const { proxy, rows } = await aProxy(server.origin, {
    limits: { idleMs: 1_000 },
    modelLimits: { contextTokens: null, maxOutputTokens: 10_000_000 },
  });
  const body = { ...requestBody("openai-completions"), max_tokens: 9_000_000 };
  const response = await ask(proxy, { protocol: "openai-completions", body });
  const before = process.memoryUsage().rss;
  await new Promise((resolve) => {
    setTimeout(resolve, 1_500);
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  expect(server.modelRequests()[0]?.ended).toBe(false);
  const text = await response.text();
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  await proxy.close();
  expect(rows[0]).toMatchObject({ end: "answered", usage_status: "complete" });
});

test("a reader that never reads is broken off when the trial is stopped", async () => {
  const server = await aModelServer({ faults: [{ kind: "huge-body", bytes: 30_000_000 }] });
  const { proxy, rows } = await aProxy(server.origin);
  const response = await ask(proxy, {
    body: { ...requestBody("anthropic-messages"), max_tokens: 9_000_000 },
  });
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  await proxy.close();
  expect(rows[0]?.end).toBe("stopped");
  expect(await textOrCut(response)).toBe("cut");
});

test("it listens on a unix socket as well, and says so when it cannot", async () => {
  const server = await aModelServer();
  const dir = await mkdtemp(join(tmpdir(), "proxy-"));
  atEnd(() => rm(dir, { recursive: true }));
  const path = join(dir, "model.sock");
  const { proxy } = await aProxy(server.origin, { listen: { kind: "unix", path } });
  expect(proxy.address).toBe(path);
  expect((await stat(path)).mode & 0o777).toBe(0o777);
  const text = await new Promise<string>((resolve, reject) => {
    const outgoing = httpRequest(
      {
        socketPath: path,
        path: "/v1/messages",
        method: "POST",
        headers: { "x-api-key": proxy.token },
      },
      (message) => {
        let got = "";
        message.on("data", (chunk) => (got += String(chunk)));
        message.on("end", () => resolve(got));
      },
    );
    outgoing.on("error", reject);
    outgoing.end(JSON.stringify(requestBody("anthropic-messages")));
  });
  expect(text).toContain("message_stop");
  const missing = join(dir, "no", "such.sock");
  await expect(aProxy(server.origin, { listen: { kind: "unix", path: missing } })).rejects.toThrow(
    BenchError,
  );
});

test("more requests at once than are allowed are told to come back", async () => {
  const server = await aModelServer(LONG);
  const { proxy } = await aProxy(server.origin, { limits: { maxConcurrent: 2 } });
  const flowing = [await ask(proxy), await ask(proxy)];
  const third = await ask(proxy);
  expect(third.status).toBe(429);
  expect(third.headers.get("retry-after")).toBe("1");
  proxy.stop("cancelled", "enough");
  expect(await Promise.all(flowing.map(textOrCut))).toEqual(["cut", "cut"]);
});

test.each(PROTOCOLS)(
  "%s: the agent's name for the model goes out as the provider's and comes back",
  async (protocol) => {
    const server = await aModelServer({
      turns: [{ text: 'the "model" is', shell: "ls" }],
      pieceBytes: 11,
    });
    const { proxy, rows } = await aProxy(server.origin, {
      models: { clientModel: "bench/main", upstreamModel: MODEL, aliases: [] },
    });
    for (const stream of [true, false]) {
      const text = await (await ask(proxy, { protocol, stream, model: "bench/main" })).text();
      expect(text).toContain("bench/main");
      expect(text).not.toContain(MODEL);
      expect(text).toContain('\\"model\\"');
    }
    await proxy.close();
    for (const { path, body } of server.modelRequests())
      expect(protocol === "gemini" ? path : JSON.stringify(body)).toContain(MODEL);
    expect(rows[0]).toMatchObject({
      model_asked: "bench/main",
      model_sent: MODEL,
      model_served: MODEL,
      usage_status: "complete",
    });
  },
);

test("lines are appended in order, and a disk that fails is told once", async () => {
  const written: string[] = [];
  const failures: string[] = [];
  let broken = false;
  const file = {
    append: async (bytes: Uint8Array): Promise<void> => {
      if (broken) throw new Error("no space left");
      await new Promise((resolve) => {
        setTimeout(resolve, Math.random() * 5);
      });
      written.push(new TextDecoder().decode(bytes));
    },
    close: async (): Promise<void> => {},
  };
  const log = new ExchangeLog({ exchanges: file, rows: file }, (message) => failures.push(message));
  const server = await aModelServer();
  const { proxy } = await aProxy(server.origin, { sink: log });
  for (let index = 0; index < 3; index += 1) await (await ask(proxy)).text();
  await until(
    () => written.length,
    (length) => length === 6,
  );
  broken = true;
  for (let index = 0; index < 2; index += 1) await (await ask(proxy)).text();
  await proxy.close();
  await log.close();
  const rows = written
    .filter((_line, index) => index % 2 === 0)
    .map((line) => JSON.parse(line) as { index: number });
  expect(rows.map(({ index }) => index)).toEqual([0, 1, 2]);
  expect(written.every((line) => line.endsWith("\n"))).toBe(true);
  expect(failures).toEqual(["no space left"]);
  expect(log.failedLines).toBe(4);
});
