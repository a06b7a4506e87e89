import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** The two ends of bench/proxy.ts, each in a process of its own: `provider` or `client`. */
const BODY_BYTES = 64 * 1024;
const EVENTS = 20;

if (process.argv[2] === "provider") await provide();
else if (process.argv[2] === "client") askOnDemand();

/** A provider as fast as can be: a reply of twenty events, or of as many bytes as the request names. */
async function provide(): Promise<void> {
  const usage = { input_tokens: 16_000, output_tokens: 20 };
  // All that a strict reader of the protocol asks for: LiteLLM's is one.
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], model: "m" };
  const start =
    event("message_start", {
      message: { ...message, stop_reason: null, stop_sequence: null, usage },
    }) + event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  const end =
    event("content_block_stop", { index: 0 }) +
    event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage }) +
    event("message_stop", {});
  const words = Array.from({ length: EVENTS }, () => word("word "));
  const small = start + words.join("") + end;
  const large = Buffer.from(word("x".repeat(16_000)));
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const head = chunks[0]?.toString("latin1", 0, 200) ?? "";
      const asked = /"user_id":"(\d+)\/(\d+)"/u.exec(head);
      const [bytes, pauseMs] = [Number(asked?.[1] ?? 0), Number(asked?.[2] ?? 0)];
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (pauseMs > 0) void speak(response, [start, ...words, end], pauseMs);
      else if (bytes === 0) response.end(small);
      else flow(bytes);
      function flow(left: number): void {
        if (left === bytes) response.write(start);
        let rest = left;
        while (rest > 0) {
          rest -= large.length;
          if (!response.write(large)) {
            const later = rest;
            response.once("drain", () => flow(later));
            return;
          }
        }
        response.end(end);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  process.send?.({ port: (server.address() as AddressInfo).port });
}

async function speak(
  response: ServerResponse,
  events: readonly string[],
  pauseMs: number,
): Promise<void> {
  for (const each of events) {
    response.write(each);
    await delay(pauseMs);
  }
  response.end();
}

function event(type: string, fields: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function word(text: string): string {
  return event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
}

export interface Job {
  readonly origin: string;
  readonly token: string;
  readonly requests: number;
  readonly parallel: number;
  /** How long the answer is; 0 for twenty events. */
  readonly flowBytes: number;
  /** Between two of the twenty events, as a model takes its time. */
  readonly pauseMs: number;
}

export interface Timing {
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly bytes: number;
  /** Why no whole answer came; null when one did. */
  readonly failure: string | null;
}

/** Does one job after the other, as its parent sends them. */
function askOnDemand(): void {
  process.on("message", (job: Job) => {
    void (async () => process.send?.(await runJob(job)))();
  });
  process.send?.({ ready: true });
}

async function runJob(job: Job): Promise<Timing[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: job.parallel });
  const timings: Timing[] = [];
  const lane = async (): Promise<void> => {
    for (let index = 0; index < job.requests; index += 1) timings.push(await askOnce(job, agent));
  };
  await Promise.all(Array.from({ length: job.parallel }, lane));
  agent.destroy();
  return timings;
}

function askOnce(job: Job, agent: Agent): Promise<Timing> {
  const body = JSON.stringify({
    model: "m",
    metadata: { user_id: `${job.flowBytes}/${job.pauseMs}` },
    max_tokens: 1_000_000_000,
    stream: true,
    system: "y".repeat(BODY_BYTES),
    messages: [{ role: "user", content: "hi" }],
  });
  const startMs = performance.now();
  return new Promise((resolve) => {
    const fail = (failure: string): void =>
      resolve({ firstByteMs: 0, totalMs: performance.now() - startMs, bytes: 0, failure });
    const outgoing = request(
      `${job.origin}/v1/messages`,
      {
        agent,
        method: "POST",
        headers: {
          "x-api-key": job.token,
          "content-type": "application/json",
          "anthropic-version": "2023-06-01",
          "content-length": Buffer.byteLength(body),
        },
      },
      (message) => {
        let firstByteMs = 0;
        let bytes = 0;
        let tail = "";
        message.on("data", (chunk: Buffer) => {
          if (bytes === 0) firstByteMs = performance.now() - startMs;
          bytes += chunk.length;
          tail = (tail + chunk.toString("latin1", Math.max(0, chunk.length - 200))).slice(-200);
        });
        message.on("end", () => {
          if (message.statusCode !== 200) fail(`status ${message.statusCode}`);
          else if (!tail.includes("message_stop")) fail("the answer's end is missing");
          else resolve({ firstByteMs, totalMs: performance.now() - startMs, bytes, failure: null });
        });
        message.on("error", (error) => fail(error.message));
      },
    );
    outgoing.on("error", (error) => fail(error.message));
    outgoing.end(body);
  });
}
