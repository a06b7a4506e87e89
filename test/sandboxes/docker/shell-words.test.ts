import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { printfCommand } from "../../../sandboxes/docker/shell-words.ts";

/** Long runs of NULs, digits behind them, what shells and printf read as their own, and any bytes. */
const pieces = fc.oneof(
  fc.integer({ min: 0, max: 200 }).map((length) => Buffer.alloc(length)),
  fc
    .constantFrom(..."0 7 8 - -v %s %% $x `id` ' \" \\ \\c ${y} ! \n".split(" "))
    .map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
);

describe.for([["dash"], ["bash"], ["busybox", "sh"]])(
  "bytes printed by %s",
  ([shell = "", ...args]) => {
    const printed = (bytes: Uint8Array): Buffer =>
      execFileSync(shell, [...args, "-c", printfCommand(bytes)]);

    test("are those that were given, whatever they are", () => {
      const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      expect(printed(every)).toEqual(every);
      fc.assert(
        fc.property(fc.array(pieces, { maxLength: 6 }), (parts) => {
          const bytes = Buffer.concat(parts);
          expect(printed(bytes)).toEqual(bytes);
        }),
        { numRuns: 40 },
      );
    });
  },
);

test("the command is one line of printable ASCII, and short for an archive's many NULs", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(printfCommand(bytes)).toMatch(/^[ -~]*$/u);
    }),
  );
  expect(printfCommand(Buffer.alloc(10_240)).length).toBeLessThan(2500);
});
