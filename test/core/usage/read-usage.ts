import type { ModelProtocol } from "../../../core/model/exchange.ts";
import type { UsageReading } from "../../../core/model/usage-reading.ts";
import { UsageMeter } from "../../../core/usage/usage-meter.ts";
import { bytesOf } from "./rendered-replies.ts";

type Usage = Record<string, unknown>;

export function read(protocol: ModelProtocol, body: unknown): UsageReading {
  const meter = new UsageMeter(protocol, "json");
  meter.push(bytesOf(JSON.stringify(body)));
  return meter.end();
}

export function stream(protocol: ModelProtocol, events: readonly unknown[]): UsageReading {
  const meter = new UsageMeter(protocol, "sse");
  for (const event of events)
    meter.push(bytesOf(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`));
  return meter.end();
}

export const anthropic = (usage: Usage): UsageReading =>
  read("anthropic-messages", { type: "message", model: "m", stop_reason: "end_turn", usage });
export const chat = (usage: Usage): UsageReading =>
  read("openai-completions", {
    object: "chat.completion",
    choices: [{ finish_reason: "stop" }],
    usage,
  });
export const responses = (usage: Usage): UsageReading =>
  read("openai-responses", { object: "response", status: "completed", output: [], usage });
export const gemini = (usageMetadata: Usage): UsageReading =>
  read("gemini", { candidates: [{ finishReason: "STOP" }], usageMetadata });

export function buckets(reading: UsageReading): number[] {
  if (reading.status !== "complete")
    throw new Error(`${reading.status} ${JSON.stringify(reading)}`);
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = reading.tokens;
  return [input, output, cacheRead, cacheWrite5m, cacheWrite1h];
}

export function anomaly(reading: UsageReading): string {
  return reading.status === "anomaly" ? reading.anomaly.kind : reading.status;
}
