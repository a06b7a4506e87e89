import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { eventText } from "../../../runner/scripted-model/deliver-reply.ts";
import { fillReply } from "../../../runner/scripted-model/fill-reply.ts";
import { Turn } from "../../../core/model/model-script.ts";
import { renderAnthropic } from "../../../runner/scripted-model/render-anthropic.ts";
import { renderCompletions } from "../../../runner/scripted-model/render-completions.ts";
import { renderGemini } from "../../../runner/scripted-model/render-gemini.ts";
import { renderResponses } from "../../../runner/scripted-model/render-responses.ts";
import type {
  RenderedReply,
  ScriptedReply,
} from "../../../runner/scripted-model/scripted-reply.ts";

export const PROTOCOLS: readonly ModelProtocol[] = [
  "anthropic-messages",
  "openai-completions",
  "openai-responses",
  "gemini",
];

/** A reply as the scripted model server sends it: the stream's bytes and the whole body. */
export function renderedReply(
  protocol: ModelProtocol,
  turn: Partial<Turn> = {},
): { stream: string; body: unknown } {
  const rendered = render(
    protocol,
    fillReply(Turn.parse({ reasoning: "hm", text: "done – ünïcödé 🎉", ...turn }), {
      protocol,
      model: "m",
      stream: true,
      tools: [],
      turnsSoFar: 0,
      includeUsage: true,
    }),
  );
  return { stream: rendered.events.map(eventText).join(""), body: rendered.body };
}

function render(protocol: ModelProtocol, reply: ScriptedReply): RenderedReply {
  if (protocol === "anthropic-messages") return renderAnthropic(reply);
  if (protocol === "openai-completions") return renderCompletions(reply, true);
  return protocol === "openai-responses" ? renderResponses(reply) : renderGemini(reply);
}

const encoder = new TextEncoder();

export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Cuts bytes at the given places, in any order, empty pieces included. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    parts.push(bytes.subarray(from, cut));
    from = cut;
  }
  return parts;
}
