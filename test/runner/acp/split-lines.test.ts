import fc from "fast-check";
import { expect, test } from "vitest";
import { splitLines } from "../../../runner/acp/split-lines.ts";

async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for (const size of [...sizes, bytes.length]) {
    if (offset < bytes.length) yield bytes.subarray(offset, offset + size);
    offset += size;
  }
}

async function linesOf(bytes: AsyncGenerator<Uint8Array>, maxBytes: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of splitLines(bytes, maxBytes))
    lines.push(line.kind === "line" ? line.text : `too long: ${String(line.sizeBytes)}`);
  return lines;
}

test("wherever the pieces end, the lines are the same", async () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 30 });
  const text = fc.array(fc.string({ unit: "grapheme", maxLength: 12 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(text, cuts, async (parts, sizes) => {
      const whole = parts.join("\n");
      const expected = whole.split("\n");
      if (expected.at(-1) === "") expected.pop();
      expect(await linesOf(inPieces(Buffer.from(whole), sizes), 1000)).toEqual(expected);
    }),
  );
});

test("a line above the limit is told by its size, and those around it are read", async () => {
  const bytes = Buffer.from(`one\n${"x".repeat(5000)}\ntwo`);
  expect(await linesOf(inPieces(bytes, [700, 700]), 100)).toEqual(["one", "too long: 5000", "two"]);
});

async function* flood(): AsyncGenerator<Uint8Array> {
  const piece = new Uint8Array(1024 * 1024).fill(0x78);
  for (let index = 0; index < 100; index += 1) yield piece;
  yield Buffer.from("\nafter\n");
}

test("a line of 100 MB costs no memory of its size", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const lines = await linesOf(flood(), 1024 * 1024);
  expect(lines).toEqual([`too long: ${String(100 * 1024 * 1024)}`, "after"]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
});
