import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FrameScanner } from "../../../sandboxes/docker/frame-scanner.ts";
import { quoteWord } from "../../../sandboxes/docker/shell-words.ts";
import { readStdioFrames } from "../../../sandboxes/docker/stdio-frames.ts";
import { execFileSync } from "node:child_process";
import { frame } from "./fake-engine.ts";

const TOKEN = "0123456789abcdef";
const SEPARATOR = "\u001e";

/** Cuts bytes at the given places, which may lie anywhere. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.byteLength + 1)), bytes.byteLength];
  const sorted = ends.toSorted((a, b) => a - b);
  return sorted.map((end, index) => bytes.subarray(index === 0 ? 0 : sorted[index - 1], end));
}

async function* stream(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield await Promise.resolve(part);
}

test("output comes apart into its two streams, wherever the connection cuts it", async () => {
  const pieces = fc.array(
    fc.record({
      stream: fc.constantFrom("stdout" as const, "stderr" as const),
      bytes: fc.uint8Array({ maxLength: 40 }),
    }),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(pieces, fc.array(fc.nat(500)), async (sent, places) => {
      const wire = Buffer.concat(sent.map((piece) => frame(piece.stream, piece.bytes)));
      const seen = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
      for await (const each of readStdioFrames(stream(cutAt(wire, places))))
        seen[each.stream].push(each.chunk);
      for (const name of ["stdout", "stderr"] as const) {
        const expected = sent.filter((piece) => piece.stream === name).map(({ bytes }) => bytes);
        expect(Buffer.concat(seen[name])).toEqual(Buffer.concat(expected));
      }
    }),
  );
});

test("a stream that is cut inside a frame is no end, and an unknown frame no output", async () => {
  const wire = Buffer.concat([frame("stdout", "ab"), frame("stderr", "cd")]);
  for (let cut = 0; cut <= wire.byteLength; cut += 1) {
    const expected = [0, 10, 20].includes(cut) ? "whole" : "in the middle of a frame";
    expect(await read(wire.subarray(0, cut))).toContain(expected);
  }
  const odd = frame("stdout", "x");
  odd[0] = 7;
  expect(await read(odd)).toContain("frame of type 7");
});

test("the supervisor's frames are found in any output, and no byte of it is lost or held for ever", () => {
  const part = fc.oneof(
    fc.uint8Array({ maxLength: 30 }).map((bytes) => ({ output: Buffer.from(bytes) })),
    fc
      .constantFrom(
        SEPARATOR,
        `${SEPARATOR}0123`,
        `${SEPARATOR}${TOKEN}`,
        `${SEPARATOR}${TOKEN}x\n`,
      )
      .map((text) => ({ output: Buffer.from(text) })),
    fc.stringMatching(/^[a-z0-9 ]{0,20}$/u).map((frameText) => ({ frameText })),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 10 }), fc.array(fc.nat(500)), (parts, places) => {
      const wire = Buffer.concat(
        parts.map((each) =>
          "output" in each ? each.output : Buffer.from(`${SEPARATOR}${TOKEN} ${each.frameText}\n`),
        ),
      );
      // Output that happens to spell a marker is a frame: the token is what keeps it from happening.
      const markers = wire.toString("latin1").split(`${SEPARATOR}${TOKEN} `).length - 1;
      fc.pre(markers === parts.filter((each) => "frameText" in each).length);
      const scanner = new FrameScanner(TOKEN);
      const outputs: Uint8Array[] = [];
      const frames: string[] = [];
      // A last byte that begins no marker lets go of everything that was held back.
      for (const chunk of [...cutAt(wire, places), Buffer.from("!\n")])
        for (const scanned of scanner.scan(chunk))
          if (scanned.kind === "output") outputs.push(Buffer.from(scanned.bytes));
          else frames.push(scanned.text);
      const sentFrames = parts.flatMap((each) => ("output" in each ? [] : [each.frameText]));
      const sentOutput = parts.flatMap((each) => ("output" in each ? [each.output] : []));
      expect(frames).toEqual(sentFrames);
      expect(Buffer.concat(outputs)).toEqual(Buffer.concat([...sentOutput, Buffer.from("!\n")]));
    }),
  );
});

test("something that begins like a frame and never ends is let through as output", () => {
  const scanner = new FrameScanner(TOKEN);
  const endless = Buffer.from(`${SEPARATOR}${TOKEN} ${"x".repeat(200_000)}`);
  const [...scanned] = scanner.scan(endless);
  const sizeBytes = scanned.reduce(
    (sum, each) => sum + (each.kind === "output" ? each.bytes.byteLength : 0),
    0,
  );
  expect(sizeBytes).toBe(endless.byteLength);
});

test("a quoted word is one word on one line, whatever is in it", () => {
  const word = fc.string({
    unit: fc.constantFrom("'", '"', "\\", "$", "\n", " ", "a", "é", "`", "*"),
  });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      const line = words.map(quoteWord).join(" ");
      expect(line).not.toContain("\n");
      const script = `BENCH_NL='\n'; printf '%s|' ${line}`;
      const printed = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" });
      expect(printed).toBe(words.map((each) => `${each}|`).join(""));
    }),
    { numRuns: 30 },
  );
});

/** "whole", or what broke. */
async function read(bytes: Uint8Array): Promise<string> {
  try {
    for await (const each of readStdioFrames(stream([bytes]))) void each;
    return "whole";
  } catch (error) {
    return String(error);
  }
}
