import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  encodeFrame,
  type Frame,
  FrameReader,
  KINDS,
} from "../../../sandboxes/fargate/wire/frames.ts";
import { Inflow, Outflow, WINDOW_BYTES } from "../../../sandboxes/fargate/wire/held-stream.ts";

const frame: fc.Arbitrary<Frame> = fc.record({
  kind: fc.constantFrom(...KINDS),
  channel: fc.nat(2 ** 32 - 1),
  payload: fc.uint8Array({ maxLength: 300 }),
});

function plain(each: Frame) {
  return { ...each, payload: [...each.payload] };
}

describe("frames", () => {
  test("come out as they went in, wherever the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 400 })), (frames, cuts) => {
        const stream = Buffer.concat(frames.map(encodeFrame));
        const reader = new FrameReader();
        const found: Frame[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn += 1) {
          const size = cuts[turn % Math.max(1, cuts.length)] ?? 7;
          found.push(...reader.push(stream.subarray(at, at + size)));
          at += size;
        }
        expect(found.map(plain)).toEqual(frames.map(plain));
      }),
    );
  });

  test("that are not ours, or too large, are refused at their first bytes", () => {
    const odd = Buffer.alloc(9);
    odd.writeUInt8(200, 4);
    expect(() => new FrameReader().push(odd)).toThrow("no frame of ours");
    const huge = Buffer.alloc(9);
    huge.writeUInt32BE(2 ** 31, 0);
    expect(() => new FrameReader().push(huge)).toThrow("no frame of ours");
  });
});

describe("a stream", () => {
  test("holds its writer back until its reader took what came", async () => {
    const sent: number[] = [];
    const out = new Outflow(async (chunk) => {
      sent.push(chunk.byteLength);
    });
    const writing = out.send(new Uint8Array(3 * WINDOW_BYTES));
    await new Promise(setImmediate);
    const underway = (): number => sent.reduce((sum, bytes) => sum + bytes, 0);
    expect(underway()).toBe(WINDOW_BYTES);
    out.taken(WINDOW_BYTES / 2);
    await new Promise(setImmediate);
    expect(underway()).toBe(1.5 * WINDOW_BYTES);
    out.close();
    await writing;
    expect(underway()).toBe(1.5 * WINDOW_BYTES);
  });

  test("gives what came before its error, then the error", async () => {
    const taken: number[] = [];
    const stream = new Inflow((bytes) => taken.push(bytes));
    stream.push(Uint8Array.of(1, 2));
    stream.end(new Error("lost"));
    stream.push(Uint8Array.of(3));
    const read: Uint8Array[] = [];
    const reading = (async () => {
      for await (const chunk of stream) read.push(chunk);
    })();
    await expect(reading).rejects.toThrow("lost");
    expect(read).toEqual([Uint8Array.of(1, 2)]);
    expect(taken).toEqual([2]);
  });
});
