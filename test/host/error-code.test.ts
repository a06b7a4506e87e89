import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { codeOf } from "../../host/error-code.ts";

test("an error of the system has its word, and nothing else that is thrown has one", async () => {
  const missing: unknown = await readFile("/nothing/here").catch((error: unknown) => error);
  expect(codeOf(missing)).toBe("ENOENT");
  const others = [new Error("ENOENT"), { code: "ENOENT" }, "ENOENT", null, undefined];
  for (const other of others) expect(codeOf(other)).toBe("");
  expect(codeOf(Object.assign(new Error("odd"), { code: 3 }))).toBe("");
});
