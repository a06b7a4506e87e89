import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SseParser } from "../../../core/usage/sse-parser.ts";
import type { SseEvent } from "../../../core/usage/sse-parser.ts";
import { bytesOf, cutAt } from "./rendered-replies.ts";
import { heldBufferBytes } from "../../setup/held-bytes.ts";

function parse(parts: readonly Uint8Array[], maxEventBytes = 1000): SseEvent[] {
  const parser = new SseParser(maxEventBytes);
  return [...parts.flatMap((part) => parser.push(part)), ...parser.end()];
}

test("an event is its data lines joined, under its name", () => {
  expect(parse([bytesOf("event: a\ndata: 1\ndata:2\n\n: ping\n\ndata:  x\nid: 7\n\n")])).toEqual([
    { name: "a", data: "1\n2", oversized: false },
    { name: "", data: " x", oversized: false },
  ]);
});

test.each(["\n", "\r\n", "\r"])(
  "lines may end with %j, and a byte order mark is skipped",
  (end) => {
    const text = `\uFEFFdata: 1${end}${end}event: b${end}data: \uFEFF2${end}${end}`;
    expect(parse([bytesOf(text)]).map(({ data }) => data)).toEqual(["1", "\uFEFF2"]);
  },
);

test("an event that the end of the stream leaves open is given", () => {
  expect(parse([bytesOf("data: [DONE]")])).toEqual([
    { name: "", data: "[DONE]", oversized: false },
  ]);
});

test("an event over the limit is marked, costs no memory, and the next one is read", async () => {
  const long = new Uint8Array(64 * 1024).fill(120);
  const parts = [
    bytesOf("event: big\ndata: "),
    ...Array(500).fill(long),
    bytesOf("\n\ndata: y\n\n"),
  ];
  const before = await heldBufferBytes();
  const events = parse(parts, 100_000);
  expect((await heldBufferBytes()) - before).toBeLessThan(1_000_000);
  expect(events).toEqual([
    { name: "big", data: "", oversized: true },
    { name: "", data: "y", oversized: false },
  ]);
});

test("many short lines of one event count towards its limit", () => {
  const events = parse([bytesOf(`${"data: 0123456789\n".repeat(100)}\ndata: z\n\n`)], 500);
  expect(events.map(({ oversized }) => oversized)).toEqual([true, false]);
});

test("the events do not depend on where the bytes were cut", () => {
  const line = fc.constantFrom(
    "data: é🎉",
    "data:",
    "event: n",
    ": c",
    "data: {}",
    "id: 1",
    "",
    "x",
  );
  const end = fc.constantFrom("\n", "\r\n", "\r");
  const stream = fc
    .array(fc.tuple(line, end), { maxLength: 30 })
    .map((lines) => lines.map(([text, stop]) => text + stop).join(""));
  fc.assert(
    fc.property(
      stream,
      fc.boolean(),
      fc.array(fc.nat(500), { maxLength: 20 }),
      (text, mark, cuts) => {
        const bytes = bytesOf((mark ? "\uFEFF" : "") + text);
        expect(parse(cutAt(bytes, cuts), 40)).toEqual(parse([bytes], 40));
      },
    ),
    { numRuns: 500 },
  );
});
