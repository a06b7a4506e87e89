import { onTestFinished } from "vitest";
import type { Exchange, ModelProtocol, RequestRow } from "../../../core/model/exchange.ts";
import {
  Exchange as ExchangeSchema,
  RequestRow as RowSchema,
} from "../../../core/model/exchange.ts";
import type { PriceTable } from "../../../core/ports/price-table.ts";
import type {
  SpendActual,
  SpendClaim,
  SpendDecision,
  SpendGate,
} from "../../../core/ports/spend-gate.ts";
import { parsePriceFile } from "../../../core/usage/price-file.ts";
import { systemClock } from "../../../host/system-clock.ts";
import { createHttpUpstream } from "../../../runner/proxy/http-upstream.ts";
import { startModelProxy } from "../../../runner/proxy/model-proxy.ts";
import type { ModelProxy } from "../../../runner/proxy/model-proxy.ts";
import type { ProxyEvent, ProxyOptions } from "../../../runner/proxy/proxy-options.ts";
import type { ModelScriptInput } from "../../fakes/model-server/model-script.ts";
import { startModelServer } from "../../fakes/model-server/start-model-server.ts";
import type { ModelServer } from "../../fakes/model-server/start-model-server.ts";

export const PROVIDER_KEY = "real-key-9f8e7d6c5b4a/of+the=provider";
export const MODEL = "mimo-v2.6-flash";

export const PROTOCOLS: readonly ModelProtocol[] = [
  "anthropic-messages",
  "openai-completions",
  "openai-responses",
  "gemini",
];

/** $1 in, $5 out, caches as Anthropic prices them; per million. */
export const PRICES: PriceTable = parsePriceFile(
  JSON.stringify({
    version: 1,
    source: "test",
    date: "2026-11-30",
    prices: {
      [`xiaomi/${MODEL}`]: {
        input: 1,
        output: 5,
        cache_read: 0.1,
        cache_write_5m: 1.25,
        cache_write_1h: 2,
      },
    },
  }),
  "test",
);

/** A pot in memory that keeps the whole story of each lease. */
export class FakeGate implements SpendGate {
  readonly claims: SpendClaim[] = [];
  readonly settled: { readonly id: string; readonly actual: SpendActual }[] = [];
  decide: (claim: SpendClaim, index: number) => SpendDecision | Promise<SpendDecision> = (
    _claim,
    index,
  ) => ({ kind: "lease", lease: { id: String(index) } });

  async reserve(claim: SpendClaim): Promise<SpendDecision> {
    this.claims.push(claim);
    return this.decide(claim, this.claims.length - 1);
  }

  async settle(lease: { readonly id: string }, actual: SpendActual): Promise<void> {
    this.settled.push({ id: lease.id, actual });
  }
}

export interface ProxyFixture {
  readonly proxy: ModelProxy;
  readonly gate: FakeGate;
  readonly rows: RequestRow[];
  readonly exchanges: Exchange[];
  readonly events: ProxyEvent[];
}

/** Ends something with the test; what was begun last ends first. */
export function atEnd(cleanup: () => Promise<unknown>): void {
  onTestFinished(async () => {
    await cleanup();
  });
}

export async function aModelServer(script: Partial<ModelScriptInput> = {}): Promise<ModelServer> {
  const server = await startModelServer({ turns: [{ text: "hello there" }], ...script });
  atEnd(() => server.close());
  return server;
}

const BASES: Readonly<Record<ModelProtocol, string>> = {
  "anthropic-messages": "",
  "openai-completions": "/v1",
  "openai-responses": "/v1",
  gemini: "/v1beta",
};

const KEY_HEADERS: Readonly<Record<ModelProtocol, string>> = {
  "anthropic-messages": "x-api-key",
  "openai-completions": "authorization",
  "openai-responses": "authorization",
  gemini: "x-goog-api-key",
};

/** A proxy before the origin, in all four protocols. Every line it records is held to its schema. */
export async function aProxy(
  origin: string,
  options: Partial<ProxyOptions> = {},
): Promise<ProxyFixture> {
  const rows: RequestRow[] = [];
  const exchanges: Exchange[] = [];
  const events: ProxyEvent[] = [];
  const gate = new FakeGate();
  const proxy = await startModelProxy({
    listen: { kind: "tcp" },
    upstreams: PROTOCOLS.map((protocol) =>
      createHttpUpstream({
        provider: "xiaomi",
        protocol,
        baseUrl: origin + BASES[protocol],
        credential: async () => ({
          header: KEY_HEADERS[protocol],
          value: protocol.startsWith("openai") ? `Bearer ${PROVIDER_KEY}` : PROVIDER_KEY,
        }),
      }),
    ),
    models: { clientModel: MODEL, upstreamModel: MODEL, aliases: [] },
    modelLimits: { contextTokens: 1_000_000, maxOutputTokens: 64_000 },
    maxOutputTokens: null,
    prices: PRICES,
    gate,
    sink: {
      write(row, exchange) {
        rows.push(RowSchema.parse(row));
        exchanges.push(ExchangeSchema.parse(JSON.parse(JSON.stringify(exchange))));
      },
    },
    clock: systemClock,
    secrets: [PROVIDER_KEY],
    onEvent: (event) => events.push(event),
    ...options,
    limits: {
      firstByteMs: 15_000,
      idleMs: 15_000,
      maxHoldMs: 15_000,
      heartbeatMs: 50,
      retryMs: 10,
      upstreamTries: 1,
      ...options.limits,
    },
  });
  atEnd(() => proxy.close());
  return { proxy, gate: (options.gate as FakeGate | undefined) ?? gate, rows, exchanges, events };
}

/** A request of the kind that an agent sends for its main work. */
export function requestBody(
  protocol: ModelProtocol,
  { stream = true, model = MODEL, text = "hi" } = {},
): Record<string, unknown> {
  const schema = { type: "object", properties: { command: { type: "string" } } };
  switch (protocol) {
    case "anthropic-messages":
      return {
        model,
        max_tokens: 1000,
        stream,
        messages: [{ role: "user", content: text }],
        tools: [{ name: "bash", input_schema: schema }],
      };
    case "openai-completions":
      return {
        model,
        max_tokens: 1000,
        stream,
        messages: [{ role: "user", content: text }],
        tools: [{ type: "function", function: { name: "bash", parameters: schema } }],
      };
    case "openai-responses":
      return {
        model,
        max_output_tokens: 1000,
        stream,
        input: [{ role: "user", content: text }],
        tools: [{ type: "function", name: "bash", parameters: schema }],
      };
    case "gemini":
      return {
        contents: [{ role: "user", parts: [{ text }] }],
        generationConfig: { maxOutputTokens: 1000 },
        tools: [{ functionDeclarations: [{ name: "bash", parameters: schema }] }],
      };
  }
}

export function requestPath(
  protocol: ModelProtocol,
  { stream = true, model = MODEL } = {},
): string {
  switch (protocol) {
    case "anthropic-messages":
      return "/v1/messages?beta=true";
    case "openai-completions":
      return "/v1/chat/completions";
    case "openai-responses":
      return "/v1/responses";
    case "gemini": {
      const action = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      return `/v1beta/models/${encodeURIComponent(model)}:${action}`;
    }
  }
}

export interface Asked {
  readonly protocol?: ModelProtocol;
  readonly stream?: boolean;
  readonly model?: string;
  readonly body?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Asks the proxy as an agent would; the answer is not read yet. */
export function ask(proxy: ModelProxy, asked: Asked = {}): Promise<Response> {
  const protocol = asked.protocol ?? "anthropic-messages";
  const { stream = true, model = MODEL } = asked;
  return fetch(proxy.address + requestPath(protocol, { stream, model }), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${proxy.token}`,
      ...asked.headers,
    },
    body: JSON.stringify(asked.body ?? requestBody(protocol, { stream, model })),
    ...(asked.signal === undefined ? {} : { signal: asked.signal }),
  });
}

/** The answer's text, or "cut" when its connection broke. */
export async function textOrCut(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch {
    return "cut";
  }
}

/** Waits until something holds; fails with what it last was. */
export async function until<T>(read: () => T, holds: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const value = read();
    if (holds(value)) return value;
    if (Date.now() > deadline) throw new Error(`never held: ${JSON.stringify(value)}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}
