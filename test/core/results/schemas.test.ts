import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderSchemas, SCHEMA_DIR } from "../../../scripts/schemas.ts";

test("docs/schemas holds what the code says; `npm run schemas` writes it", () => {
  const expected = renderSchemas();
  const present = readdirSync(SCHEMA_DIR).filter((name) => name.endsWith(".schema.json"));
  expect(present.toSorted()).toEqual([...expected.keys()].toSorted());
  for (const [name, text] of expected) {
    expect(readFileSync(join(SCHEMA_DIR, name), "utf8")).toBe(text);
  }
});

test("the run summary keeps the contract's id and its required keys", () => {
  const text = renderSchemas().get("run-summary.schema.json") ?? "";
  const schema = JSON.parse(text) as { $id: string; required: string[] };
  expect(schema.$id).toBe("https://benchflow.ai/schemas/benchflow-run-summary.v1.schema.json");
  expect(schema.required).toEqual(
    expect.arrayContaining(["job_dir", "job_name", "total", "timed_out", "gate", "exit_code"]),
  );
});
