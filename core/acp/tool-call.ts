import * as z from "zod";

const STATUSES = ["pending", "in_progress", "completed", "failed", "cancelled"] as const;

/**
 * What `tool_call` and `tool_call_update` have in common. A field of an odd type counts as absent:
 * one bad field must not cost the rest of what is known.
 */
const ToolCallFields = z.looseObject({
  toolCallId: z.string().max(1024),
  title: z.string().nullish().catch(null),
  kind: z.string().nullish().catch(null),
  status: z.enum(STATUSES).nullish().catch(null),
  content: z.array(z.unknown()).nullish().catch(null),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
});
export type ToolCallFields = z.infer<typeof ToolCallFields>;

/** Where Codex and Pi put what a command has printed, and nowhere else. */
const TerminalMeta = z.looseObject({
  _meta: z.looseObject({ terminal_output_delta: z.looseObject({ data: z.string().min(1) }) }),
});

/** The fields of an update about a tool call; null when it names none. */
export function readToolCall(update: unknown): ToolCallFields | null {
  const parsed = ToolCallFields.safeParse(update);
  if (!parsed.success) return null;
  const output = TerminalMeta.safeParse(update);
  if (!output.success) return parsed.data;
  const text = output.data["_meta"].terminal_output_delta.data;
  const block = { type: "content", content: { type: "text", text } };
  return { ...parsed.data, content: [...(parsed.data.content ?? []), block] };
}

/** A tool call as it is known so far. Agents tell it in pieces (notes on agents, 8). */
export interface ToolCall {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly status: (typeof STATUSES)[number];
  /** The blocks of all updates, in order (spec 10.5), the first 200 of them. */
  readonly content: readonly unknown[];
  readonly rawInput: unknown;
  readonly rawOutput: unknown;
}

/** Blocks kept of one call: an agent that streams its tool's output sends one for each piece. */
const MAX_BLOCKS = 200;

/** What one more update makes of a tool call; `null` for its first. The last value that says something wins. */
export function mergeToolCall(known: ToolCall | null, fields: ToolCallFields): ToolCall {
  return {
    id: fields.toolCallId,
    title: fields.title ?? known?.title ?? "",
    kind: fields.kind ?? known?.kind ?? "other",
    status: fields.status ?? known?.status ?? "pending",
    content: [...(known?.content ?? []), ...(fields.content ?? [])].slice(0, MAX_BLOCKS),
    rawInput: saysNothing(fields.rawInput) ? known?.rawInput : fields.rawInput,
    rawOutput: saysNothing(fields.rawOutput) ? known?.rawOutput : fields.rawOutput,
  };
}

/** Whether the tool still works, as far as the agent has said. */
export function isPending({ status }: Pick<ToolCall, "status">): boolean {
  return status === "pending" || status === "in_progress";
}

/**
 * Whether an update tells more than that its tool still works. Claude says that every 30 s for as long as a
 * tool hangs, so it is no sign of life: else nothing but the wall clock would ever end such a tool.
 */
export function tellsNews(fields: ToolCallFields): boolean {
  const { title, kind, status, content, rawInput, rawOutput } = fields;
  if (typeof title === "string" || typeof kind === "string") return true;
  if (typeof status === "string" && !isPending({ status })) return true;
  return (content ?? []).length > 0 || !saysNothing(rawInput) || !saysNothing(rawOutput);
}

/** Several agents announce a call with an empty input and tell the real one later. */
function saysNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

const ClaudeMeta = z.looseObject({
  _meta: z.looseObject({ claudeCode: z.looseObject({ toolName: z.string() }) }),
});
const Named = z.looseObject({ name: z.string() });

/** The tool's own name, where the agent tells it beside the protocol. */
export function toolNameOf(fields: ToolCallFields): string | null {
  const meta = ClaudeMeta.safeParse(fields);
  if (meta.success) return meta.data["_meta"].claudeCode.toolName;
  const named = Named.safeParse(fields);
  return named.success ? named.data.name : null;
}
