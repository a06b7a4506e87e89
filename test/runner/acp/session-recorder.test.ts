import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionUpdate } from "../../../core/acp/acp-message.ts";
import type { TrajectoryEvent } from "../../../core/model/trajectory.ts";
import { RECORDER_LIMITS, SessionRecorder } from "../../../runner/acp/session-recorder.ts";
import { Redactor } from "../../../runner/proxy/redact/redactor.ts";

const TOKEN = "bench-0123456789abcdef0123456789abcdef";

function aRecorder(limits = RECORDER_LIMITS) {
  const events: TrajectoryEvent[] = [];
  let seconds = 0;
  const recorder = new SessionRecorder({
    trajectory: { record: async (event) => void events.push(event) },
    redactor: new Redactor([TOKEN]),
    now: () => new Date(1000 * (seconds += 1)),
    limits,
  });
  const take = (update: SessionUpdate["update"]): boolean =>
    recorder.take({ sessionId: "s", update });
  return { recorder, events, take };
}

const said = (text: string) => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
});
const thought = (text: string) => ({
  sessionUpdate: "agent_thought_chunk",
  content: { type: "text", text },
});
const tool = (toolCallId: string, fields: object = {}) => ({
  sessionUpdate: "tool_call",
  toolCallId,
  ...fields,
});

describe("the record of a session", () => {
  test("pieces of text that follow each other are one event, with the time of the first", async () => {
    const { recorder, events, take } = aRecorder();
    for (const update of [thought("I "), thought("see"), said("Do"), said("ne"), said(".")])
      expect(take(update)).toBe(true);
    await recorder.settle();
    expect(events).toEqual([
      { type: "agent_thought", text: "I see", at_utc: "1970-01-01T00:00:01.000Z" },
      { type: "agent_message", text: "Done.", at_utc: "1970-01-01T00:00:02.000Z" },
    ]);
  });

  test("an update that tells only that its tool still runs is no sign of life, any other is one", () => {
    const { recorder, take } = aRecorder();
    expect(take(tool("a", { status: "pending", title: "Terminal" }))).toBe(true);
    for (const elapsed of [30, 60, 90]) {
      const meta = { toolName: "Bash", toolResponse: { elapsedTimeSeconds: elapsed } };
      const ran = { status: "in_progress", rawInput: {}, _meta: { claudeCode: meta } };
      expect(take(tool("a", ran))).toBe(false);
    }
    const printed = { _meta: { terminal_output_delta: { data: "line" } } };
    const block = { type: "content", content: { type: "text", text: "line" } };
    for (const news of [printed, { content: [block] }, { rawInput: { a: 1 } }, { title: "ls" }])
      expect(take(tool("a", { status: "in_progress", ...news }))).toBe(true);
    expect(recorder.pendingToolCalls()).toEqual(["a"]);
    expect(take(tool("a", { status: "completed" }))).toBe(true);
  });

  test("a tool call stands where it began, and what came while it ran stands after it", async () => {
    const { recorder, events, take } = aRecorder();
    take(said("first"));
    take(tool("a", { title: "Terminal", kind: "execute", status: "pending" }));
    take(said("meanwhile"));
    take(tool("b", { status: "completed" }));
    take(tool("a", { status: "completed", rawInput: { command: "ls" }, title: "ls" }));
    take(said("last"));
    await recorder.settle();
    expect(events.map((event) => event["text"] ?? event["tool_call_id"])).toEqual([
      "first",
      "a",
      "meanwhile",
      "b",
      "last",
    ]);
    expect(events[1]).toMatchObject({
      title: "ls",
      raw_input: { command: "ls" },
      status: "completed",
      at_utc: "1970-01-01T00:00:02.000Z",
      ended_at_utc: "1970-01-01T00:00:05.000Z",
    });
  });

  test("what is complete is written while the session still goes on", async () => {
    const { recorder, events, take } = aRecorder();
    take(said("one"));
    take(tool("a", { status: "completed" }));
    take(tool("b", { status: "pending" }));
    await new Promise(setImmediate);
    expect(events.map(({ type }) => type)).toEqual(["agent_message", "tool_call"]);
    expect(recorder.pendingToolCalls()).toEqual(["b"]);
  });

  test("calls that were running when the turn was cancelled say so", async () => {
    const { recorder, events, take } = aRecorder();
    take(tool("a", { status: "in_progress" }));
    await recorder.settle({ cancelled: true });
    expect(events).toMatchObject([{ tool_call_id: "a", status: "cancelled", ended_at_utc: null }]);
    expect(recorder.toolCalls).toBe(1);
  });

  test("an update of another kind is no sign of life and leaves no event", async () => {
    const { recorder, events, take } = aRecorder();
    for (const sessionUpdate of ["usage_update", "plan", "available_commands_update", "x"])
      expect(take({ sessionUpdate })).toBe(false);
    expect(take({ sessionUpdate: "tool_call", title: "without an id" })).toBe(false);
    expect(take({ sessionUpdate: "agent_message_chunk", content: { type: "image" } })).toBe(false);
    await recorder.settle();
    expect(events).toEqual([]);
    expect(recorder.hasActivity).toBe(false);
  });

  test("the trial's token reaches no event, in whatever field it comes", async () => {
    const { recorder, events, take } = aRecorder();
    take(said(`a ${TOKEN.slice(0, 10)}`));
    take(said(`${TOKEN.slice(10)} b`));
    take(tool(`id`, { title: TOKEN, rawInput: { [TOKEN]: TOKEN }, content: [{ text: TOKEN }] }));
    await recorder.settle();
    expect(JSON.stringify(events)).not.toContain(TOKEN);
    expect(events).toHaveLength(2);
  });

  test("an invocation of a skill counts once, however often it is told", async () => {
    const { recorder, take } = aRecorder();
    const skill = { _meta: { claudeCode: { toolName: "Skill" } } };
    take(tool("a", skill));
    take(tool("a", { ...skill, status: "completed" }));
    take(tool("b", { status: "completed" }));
    expect(recorder.skillInvocations).toBe(1);
  });

  test("a failure of the file is told when the session is settled", async () => {
    const full = new Error("disk is full");
    const recorder = new SessionRecorder({
      trajectory: { record: () => Promise.reject(full) },
      redactor: new Redactor([]),
      now: () => new Date(0),
    });
    recorder.take({ sessionId: "s", update: said("x") });
    await expect(recorder.settle()).rejects.toBe(full);
  });
});

describe("a flood", () => {
  test("of text is cut with a mark that tells how much is gone", async () => {
    const { recorder, events, take } = aRecorder({ ...RECORDER_LIMITS, maxTextChars: 100 });
    for (let piece = 0; piece < 1000; piece += 1) take(said("0123456789"));
    await recorder.settle();
    expect(events).toHaveLength(1);
    expect(events[0]?.["text"]).toMatch(/^(0123456789){10}\[9900 characters dropped\]$/u);
  });

  test("of calls that never end keeps all of them, and holds few back", async () => {
    const { recorder, events, take } = aRecorder({ ...RECORDER_LIMITS, maxWaiting: 10 });
    for (let index = 0; index < 1000; index += 1) take(tool(`t${String(index)}`));
    take(said("after"));
    expect(recorder.pendingToolCalls().length).toBeLessThanOrEqual(10);
    await recorder.settle();
    expect(events).toHaveLength(1001);
  });

  test("of one call's content is bounded, and the call's end is still known", async () => {
    const { recorder, events, take } = aRecorder();
    for (let index = 0; index < 200; index += 1)
      take(tool("a", { content: [{ text: "x".repeat(50_000) }] }));
    take(tool("a", { status: "failed" }));
    await recorder.settle();
    expect(events).toMatchObject([{ status: "failed" }]);
    expect(JSON.stringify(events).length).toBeLessThan(400_000);
  });

  test("beyond the file's limit is counted in a last event", async () => {
    const { recorder, events, take } = aRecorder({ ...RECORDER_LIMITS, maxFileChars: 1000 });
    for (let index = 0; index < 100; index += 1)
      take(tool(`t${String(index)}`, { status: "completed", title: "x".repeat(100) }));
    await recorder.settle();
    const last = events.at(-1);
    expect(last).toEqual({ type: "events_dropped", events: 100 - (events.length - 1) });
    expect(JSON.stringify(events).length).toBeLessThan(1500);
  });

  test("of anything breaks nothing, and no more than was sent is recorded", async () => {
    const kinds = fc.constantFrom("tool_call", "tool_call_update", "agent_message_chunk", "plan");
    const update = fc
      .tuple(kinds, fc.option(fc.constantFrom("a", "b", "c")), fc.jsonValue())
      .map(([sessionUpdate, toolCallId, rest]) =>
        Object.assign(typeof rest === "object" && !Array.isArray(rest) ? { ...rest } : {}, {
          sessionUpdate,
          content: rest,
          toolCallId,
        }),
      );
    await fc.assert(
      fc.asyncProperty(fc.array(update, { maxLength: 40 }), async (updates) => {
        const { recorder, events, take } = aRecorder({ ...RECORDER_LIMITS, maxWaiting: 3 });
        for (const each of updates) take(each);
        await recorder.settle();
        expect(events.length).toBeLessThanOrEqual(updates.length + 1);
      }),
    );
  });
});
