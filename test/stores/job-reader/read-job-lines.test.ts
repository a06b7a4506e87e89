import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { loadJob } from "../../../stores/job-reader/load-job.ts";
import { readJobLines } from "../../../stores/job-reader/read-job-lines.ts";

const FAULTS = fileURLToPath(
  new URL("../../fixtures/benchflow-0.7.12/faults-no-retry/2026-11-30__04-39-55", import.meta.url),
);
const made: string[] = [];

afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

function aJob(lines: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), "job-lines-"));
  made.push(dir);
  for (const [rolloutName, line] of Object.entries(lines)) {
    mkdirSync(join(dir, rolloutName, "trainer"), { recursive: true });
    writeFileSync(join(dir, rolloutName, "results.jsonl"), line);
    writeFileSync(join(dir, rolloutName, "trainer/verifiers.jsonl"), "{}\n");
    writeFileSync(join(dir, rolloutName, "trainer/adp.jsonl"), "{}\n");
  }
  return dir;
}

/** JSON writes 1 where Python writes 1.0; the numbers are equal. */
function withoutFloats(text: string): string {
  return text.replaceAll(/(?<=: -?\d+)\.0(?=[,}])/gu, "");
}

test("BenchFlow's own job files are reproduced from its trials' lines", async () => {
  const [job] = (await loadJob(FAULTS)).jobs;
  const rolloutNames = job?.trials.map((trial) => trial.record.rolloutName) ?? [];
  const files = await readJobLines(FAULTS, rolloutNames);
  expect([...files.keys()]).toEqual(["results.jsonl", "verifiers.jsonl", "adp.jsonl"]);
  for (const [name, text] of files) {
    expect(text).toBe(withoutFloats(readFileSync(join(FAULTS, name), "utf8")));
  }
});

test("only the attempts that count have a line, numbered in their order", async () => {
  const dir = aJob({ a__1: '{"example_id": 7, "x": 1}\n', a__2: "{}\n", b__1: '{"x": 2}\n' });
  const files = await readJobLines(dir, ["a__1", "b__1"]);
  expect(files.get("results.jsonl")).toBe('{"example_id": 0, "x": 1}\n{"x": 2, "example_id": 1}\n');
});

test("a line that cannot be taken over is named with its reason, and the others stand", async () => {
  const dir = aJob({ a__1: "{", b__1: "[1]", c__1: "{}\n{}\n", d__1: '{"x": NaN}', e__1: "{}" });
  rmSync(join(dir, "e__1/trainer/adp.jsonl"));
  symlinkSync("/etc/hostname", join(dir, "e__1/trainer/adp.jsonl"));
  const files = await readJobLines(dir, ["a__1", "b__1", "c__1", "d__1", "e__1", "f__1"]);
  expect(files.get("results.jsonl")).toBe('{"example_id": 4}\n');
  const { errors } = JSON.parse(files.get("results.errors.json") ?? "") as {
    errors: { rollout_name: string; file: string; reason: string }[];
  };
  const told = errors.map(
    (error) => `${error.rollout_name} ${error.file}: ${error.reason.slice(0, 20)}`,
  );
  expect(told).toEqual([
    "a__1 results.jsonl: is not valid JSON: E",
    "b__1 results.jsonl: is no JSON object",
    "c__1 results.jsonl: has more than one li",
    "d__1 results.jsonl: is not valid JSON: U",
    "f__1 results.jsonl: is missing",
    "f__1 trainer/verifiers.jsonl: is missing",
    "e__1 trainer/adp.jsonl: is a link",
    "f__1 trainer/adp.jsonl: is missing",
  ]);
});

test("an errors file of before is emptied when its errors are gone", async () => {
  const dir = aJob({ a__1: "{}" });
  expect((await readJobLines(dir, ["a__1"])).has("results.errors.json")).toBe(false);
  writeFileSync(join(dir, "results.errors.json"), "old");
  const files = await readJobLines(dir, ["a__1"]);
  expect(JSON.parse(files.get("results.errors.json") ?? "")).toEqual({
    schema_version: 1,
    errors: [],
  });
});
