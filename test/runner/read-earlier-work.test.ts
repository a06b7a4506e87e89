import { expect, test } from "vitest";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import { readEarlierWork } from "../../runner/read-earlier-work.ts";

async function* bytes(count: number): ByteStream {
  const piece = new Uint8Array(1024 * 1024).fill(32);
  for (let sent = 0; sent < count; sent += piece.length) yield piece;
}

async function* text(words: string): ByteStream {
  yield new TextEncoder().encode(words);
}

async function readFrom(result: ByteStream) {
  return await readEarlierWork({ readFrom: () => result }, "alpha__00000001");
}

test.each([
  ["that is no JSON", () => text("{"), /its result cannot be read: /u],
  ["without a task", () => text("{}"), /its result cannot be read: task_name is /u],
  ["above 64 MiB", () => bytes(65 * 1024 * 1024), /it is above 67108864 bytes/u],
])("an earlier result %s is told in a note, not taken for nothing", async (_, result, message) => {
  const work = await readFrom(result());
  expect(work).toMatchObject({ agentName: null, toolCalls: 0, end: { kind: "completed" } });
  expect(work.notes).toEqual([expect.stringMatching(message)]);
  expect(work.notes[0]).toContain("how the agent of alpha__00000001 ended is not known");
});

test("a result of before `agent_end` tells a limit by its error", async () => {
  const error = { error: "too long", error_category: "idle_timeout" };
  const work = await readFrom(
    text(JSON.stringify({ task_name: "alpha", rewards: null, ...error })),
  );
  expect(work).toMatchObject({ end: { kind: "limit", limit: "idle" }, notes: [] });
});
