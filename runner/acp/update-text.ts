import * as z from "zod";

const Chunk = z.looseObject({
  content: z.looseObject({ type: z.literal("text"), text: z.string() }),
});
const Plain = z.looseObject({ text: z.string() });

/** The text of a message or thought chunk, in the protocol's form or that of older shims (spec 10.5). */
export function textOfUpdate(update: unknown): string | null {
  const chunk = Chunk.safeParse(update);
  if (chunk.success) return chunk.data.content.text;
  const plain = Plain.safeParse(update);
  return plain.success ? plain.data.text : null;
}
