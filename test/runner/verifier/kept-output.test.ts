import fc from "fast-check";
import { expect, test } from "vitest";
import type { AppendFile } from "../../../core/ports/attempt-folder.ts";
import { KeptOutput, MAX_KEPT_BYTES } from "../../../runner/verifier/kept-output.ts";

function memoryFile(): AppendFile & { text: () => string; closed: () => boolean } {
  const chunks: Uint8Array[] = [];
  let isClosed = false;
  return {
    append: async (bytes) => {
      await Promise.resolve();
      chunks.push(Buffer.from(bytes));
    },
    close: async () => {
      isClosed = true;
    },
    text: () => Buffer.concat(chunks).toString("latin1"),
    closed: () => isClosed,
  };
}

test("output below the limit is kept whole, whatever its chunks", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ maxLength: 9 }), { maxLength: 20 }), async (chunks) => {
      const file = memoryFile();
      const output = new KeptOutput(file, 1000);
      for (const chunk of chunks) output.take(Buffer.from(chunk, "latin1"));
      await output.end();
      expect(file.text()).toBe(Buffer.from(chunks.join(""), "latin1").toString("latin1"));
    }),
  );
});

test("of longer output both ends are kept and the mark counts exactly what was dropped", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), async (sizes) => {
      const file = memoryFile();
      const output = new KeptOutput(file, 20);
      let all = "";
      for (const [index, size] of sizes.entries()) {
        const chunk = String.fromCharCode(97 + (index % 26)).repeat(size);
        all += chunk;
        output.take(Buffer.from(chunk));
      }
      await output.end();
      const dropped = all.length - 20;
      const mark = `\n[... ${dropped} bytes dropped ...]\n`;
      expect(output.totalBytes).toBe(all.length);
      expect(file.text()).toBe(dropped <= 0 ? all : `${all.slice(0, 10)}${mark}${all.slice(-10)}`);
    }),
  );
});

test("two gigabytes one chunk at a time cost no more memory than the limit (C-59)", async () => {
  const file = memoryFile();
  const output = new KeptOutput(file);
  const chunk = Buffer.alloc(1024 * 1024, "x");
  for (let index = 0; index < 2048; index += 1) output.take(chunk);
  await output.end();
  expect(output.totalBytes).toBe(2 * 1024 ** 3);
  expect(file.text().length).toBeLessThan(MAX_KEPT_BYTES + 100);
  expect(file.text()).toContain(`[... ${2 * 1024 ** 3 - MAX_KEPT_BYTES} bytes dropped ...]`);
});

test("six million chunks of one byte are taken in seconds", async () => {
  const output = new KeptOutput(memoryFile());
  const started = performance.now();
  const byte = Buffer.from("y");
  for (let index = 0; index < 6_000_000; index += 1) output.take(byte);
  await output.end();
  expect(performance.now() - started).toBeLessThan(10_000);
});

test("the sample shows both ends", async () => {
  const output = new KeptOutput(memoryFile(), 4 * 1024 * 1024);
  output.take(Buffer.from("first"));
  output.take(Buffer.alloc(8 * 1024 * 1024, "."));
  output.take(Buffer.from("last"));
  expect(output.sample()).toMatch(/^first[^]*last$/u);
  await output.end();
});

test("a write that failed is told when the output ends, and the file is closed", async () => {
  const file = memoryFile();
  const full = { ...file, append: async () => await Promise.reject(new Error("disk full")) };
  const output = new KeptOutput(full);
  output.take(Buffer.from("x"));
  await expect(output.end()).rejects.toThrow("disk full");
  expect(file.closed()).toBe(true);
});
