import fc from "fast-check";
import { expect, test } from "vitest";
import { KeptOutput } from "../../sandboxes/kept-output.ts";
import { heldBufferBytes } from "../setup/held-bytes.ts";

test("keeps the first and the last half of any stream, in any chunks, and counts the rest", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 12 }),
      fc.integer({ min: 0, max: 1500 }),
      (chunks, maxBytes) => {
        const kept = new KeptOutput(maxBytes);
        for (const chunk of chunks) kept.push(chunk);
        const whole = Buffer.concat(chunks);
        const droppedBefore = kept.droppedBytes;
        const head = Math.floor(maxBytes / 2);
        const expected =
          whole.byteLength <= maxBytes
            ? whole
            : Buffer.concat([
                whole.subarray(0, head),
                whole.subarray(whole.byteLength - (maxBytes - head)),
              ]);
        expect(Buffer.from(kept.bytes()).toString("hex")).toBe(expected.toString("hex"));
        expect(kept.droppedBytes).toBe(whole.byteLength - expected.byteLength);
        expect(droppedBefore).toBe(kept.droppedBytes);
      },
    ),
  );
});

test("holds no more than a fixed amount beyond its cap, however long the stream", async () => {
  const kept = new KeptOutput(1000);
  const before = await heldBufferBytes();
  for (let n = 0; n < 20_000; n += 1) kept.push(Buffer.alloc(4096, n % 251));
  expect((await heldBufferBytes()) - before).toBeLessThan(1_000_000);
  expect(kept.bytes().byteLength).toBe(1000);
  expect(kept.droppedBytes).toBe(20_000 * 4096 - 1000);
});

test("without a cap keeps everything, and pins no buffer that a small piece was read into", async () => {
  const all = new KeptOutput();
  for (let n = 0; n < 100; n += 1) all.push(Buffer.alloc(4096, n));
  expect([all.bytes().byteLength, all.droppedBytes]).toEqual([409_600, 0]);
  const kept = new KeptOutput(1000);
  const before = await heldBufferBytes();
  for (let n = 0; n < 1000; n += 1) kept.push(Buffer.alloc(65_536, n).subarray(0, 1));
  expect((await heldBufferBytes()) - before).toBeLessThan(1_000_000);
  expect(kept.bytes().byteLength).toBe(1000);
});
