import * as z from "zod";
import { SCRIPTED_MODEL } from "./scripted-name.ts";

const Count = z.int().min(0);

/** Tokens that a scripted reply says it used; five disjoint buckets, `reasoning` a part of `output`. */
export const ScriptedUsage = z.strictObject({
  input: Count.default(350),
  cacheRead: Count.default(600),
  cacheWrite5m: Count.default(50),
  cacheWrite1h: Count.default(0),
  output: Count.default(40),
  reasoning: Count.default(16),
});
export type ScriptedUsage = z.infer<typeof ScriptedUsage>;

const ToolCall = z.strictObject({
  /** Name of one of the request's tools, matched whole first, then as a part, without case. */
  tool: z.string(),
  args: z.record(z.string(), z.unknown()).default({}),
});

/** One answer of the model. With `shell` or `calls` it ends in tool calls, else in a finished turn. */
export const Turn = z.strictObject({
  reasoning: z.string().optional(),
  text: z.string().optional(),
  /** A command for whichever tool of the agent runs commands. */
  shell: z.union([z.string(), z.array(z.string())]).optional(),
  calls: z.array(ToolCall).default([]),
  /** The stop reason in the protocol's own word, where it is not what the turn implies. */
  stop: z.string().optional(),
  usage: ScriptedUsage.default(() => ScriptedUsage.parse({})),
});
export type Turn = z.infer<typeof Turn>;

/** Which requests a fault meets: skips the first `after`, then holds for `times` (null: for ever). */
const When = {
  on: z.enum(["main", "side", "any"]).default("main"),
  after: z.int().min(0).default(0),
  times: z.int().min(1).nullable().default(null),
};

export const Fault = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("status"),
    status: z.int().min(100).max(599),
    headers: z.record(z.string(), z.string()).default({}),
    message: z.string().optional(),
    ...When,
  }),
  /** 400 as the protocol's provider answers a prompt longer than the context. */
  z.strictObject({ kind: z.literal("context-overflow"), ...When }),
  /** Never answers. */
  z.strictObject({ kind: z.literal("hang"), ...When }),
  z.strictObject({ kind: z.literal("slow-first-byte"), delayMs: z.number().min(0), ...When }),
  /** Sends some events, then nothing more, the connection open. */
  z.strictObject({ kind: z.literal("stall"), events: z.int().min(0).default(3), ...When }),
  /** TCP reset before any answer. */
  z.strictObject({ kind: z.literal("reset"), ...When }),
  /** Connection lost after some events. */
  z.strictObject({ kind: z.literal("cut"), events: z.int().min(0).default(3), ...When }),
  /** A clean end of the connection, but the reply's last part and its usage never came. */
  z.strictObject({ kind: z.literal("no-usage"), ...When }),
  /** The reply's usage object is this one. */
  z.strictObject({
    kind: z.literal("wrong-usage"),
    usage: z.record(z.string(), z.unknown()),
    ...When,
  }),
  /** The text is padded to this many bytes. */
  z.strictObject({ kind: z.literal("huge-body"), bytes: z.int().min(0), ...When }),
]);
export type Fault = z.infer<typeof Fault>;

const Turns = z.array(Turn).min(1).max(1000);

const Manner = {
  /** The answer to requests without a shell tool: titles and the like. */
  side: Turn.default(() => Turn.parse({ text: "A title" })),
  faults: z.array(Fault).max(100).default([]),
  /** Milliseconds between two events. */
  eventDelayMs: z.number().min(0).max(60_000).default(0),
  /** The stream's bytes are written in pieces of this size; null: an event at a time. */
  pieceBytes: z.int().min(1).nullable().default(null),
};

/**
 * What a scripted model says. The turn is chosen by how many turns of the assistant the request already
 * holds, so that a retried request gets the same answer; after the last turn that one is repeated.
 */
export const ModelScript = z.strictObject({
  turns: Turns,
  models: z.array(z.string()).default(["scripted-model"]),
  ...Manner,
});
export type ModelScript = z.infer<typeof ModelScript>;
export type ModelScriptInput = z.input<typeof ModelScript>;

/**
 * A script as a person writes it for `-m scripted/FILE`: turns for each task by its name, and for those
 * that have none of their own. Faults count anew in each attempt.
 */
export const ScriptFile = z.strictObject({
  version: z.literal(1),
  /** For tasks that `tasks` does not name; null: a run with such a task is refused. */
  turns: Turns.nullable().default(null),
  tasks: z.record(z.string(), Turns).default({}),
  ...Manner,
});
export type ScriptFile = z.infer<typeof ScriptFile>;

/** What the model says on one task; null where the file has nothing for it. */
export function scriptOf(file: ScriptFile, taskName: string): ModelScript | null {
  const { version: _, tasks, turns: others, ...manner } = file;
  const own = Object.entries(tasks).find(([name]) => name === taskName)?.[1] ?? null;
  const turns = own ?? others;
  return turns === null ? null : { ...manner, turns, models: [SCRIPTED_MODEL] };
}
