import { newId, pieces } from "./scripted-reply.ts";
import type { RenderedReply, ScriptedReply, StreamEvent } from "./scripted-reply.ts";

/** Gemini generateContent: a chunk a part, the usage so far in each, the finish reason in the last. */
export function renderGemini(reply: ScriptedReply): RenderedReply {
  const parts: Record<string, unknown>[] = [
    ...(reply.reasoning === null ? [] : [{ text: reply.reasoning, thought: true }]),
    ...(reply.text === null ? [] : [{ text: reply.text }]),
    ...reply.calls.map((call) => ({
      functionCall: { name: call.tool.name, args: call.args },
      thoughtSignature: "c2lnbmVk",
    })),
  ];
  const finishReason = reply.stop ?? "STOP";
  const responseId = newId("");
  const wrap = (
    some: readonly unknown[],
    reason: string | null,
    usage: unknown,
  ): Record<string, unknown> => ({
    candidates: [
      {
        content: { role: "model", parts: some },
        index: 0,
        ...(reason === null ? {} : { finishReason: reason }),
      },
    ],
    usageMetadata: usage,
    modelVersion: reply.model,
    responseId,
  });
  const { promptTokenCount, cachedContentTokenCount } = reply.usage;
  const soFar = { promptTokenCount, cachedContentTokenCount, totalTokenCount: promptTokenCount };
  const streamed = parts.flatMap(inPieces);
  const chunks = (streamed.length === 0 ? [{ text: "" }] : streamed).map(
    (part, index, all): StreamEvent => {
      const isLast = index === all.length - 1;
      const data = wrap([part], isLast ? finishReason : null, isLast ? reply.usage : soFar);
      return { name: null, data };
    },
  );
  return { body: wrap(parts, finishReason, reply.usage), events: chunks };
}

/** A text part as the parts that a stream sends of it. */
function inPieces(part: Record<string, unknown>): Record<string, unknown>[] {
  const { text, thought } = part;
  if (typeof text !== "string") return [part];
  return pieces(text).map((piece) =>
    thought === true ? { text: piece, thought: true } : { text: piece },
  );
}
