import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatLocalStamp,
  isUtcStamp,
  stampMs,
  toLocalStamp,
} from "../../../core/results/local-stamp.ts";
import { toPythonJson } from "../../../core/results/python-json.ts";
import { timingOf } from "../../../core/results/timing.ts";
import type { PhaseSpan } from "../../../core/model/trial.ts";

test("a stamp is local time with microseconds and without a zone", () => {
  const moment = new Date("2026-07-26T19:32:16.431Z");
  expect(formatLocalStamp(moment, 120)).toBe("2026-07-26 21:32:16.431000");
  expect(formatLocalStamp(moment, -570)).toBe("2026-07-26 10:02:16.431000");
  expect(formatLocalStamp(new Date("2026-12-31T23:30:00Z"), 60)).toBe("2027-01-01 00:30:00.000000");
});

test("a stamp that BenchFlow wrote stays as it is", () => {
  expect(toLocalStamp("2026-07-26 21:32:16.431225", 120)).toBe("2026-07-26 21:32:16.431225");
  expect(toLocalStamp("", 120)).toBe("");
});

test("stamps of both kinds have a place in time, other texts have none", () => {
  expect(stampMs("2026-11-30 04:40:35.684991")).toBe(Date.parse("2026-11-30T04:40:35.684Z"));
  expect(stampMs("2026-11-30T04:40:35Z")).toBe(Date.parse("2026-11-30T04:40:35Z"));
  for (const text of ["", "soon", "2026-11-30", "2026-13-30 04:40:35", "2026-11-30T04:40:35+02:00"])
    expect(stampMs(text)).toBeNull();
  expect(isUtcStamp("2026-13-30T04:40:35Z")).toBe(false);
});

test("a line of JSON has Python's spaces and is strict", () => {
  expect(toPythonJson({ a: [1, "x, y: z"], b: { c: null }, d: undefined, e: Number.NaN })).toBe(
    '{"a": [1, "x, y: z"], "b": {"c": null}, "e": null}',
  );
});

test("a line of JSON holds the value, whatever it is, on one line", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const line = toPythonJson(value);
      expect(line).not.toContain("\n");
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("a value nested too deep is cut with a mark instead of a crash", () => {
  const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  const line = toPythonJson(deep);
  expect(line).toBe(`${"[".repeat(200)}"[nested deeper than 200 levels]"${"]".repeat(200)}`);
});

function span(phase: PhaseSpan["phase"], seconds: number): PhaseSpan {
  return { phase, startedAt: "2026-11-30T00:00:00.000Z", seconds };
}

test("an agent's trial has the contract's four phases and a total over all spans", () => {
  const spans = [
    span("prepare", 1),
    span("start", 0.25),
    span("setup", 2),
    span("agent", 10),
    span("stop-agent", 0.5),
    span("freeze", 3),
    span("verify", 4),
    span("end", 0.3),
  ];
  expect(timingOf(spans, "claude-agent-acp")).toEqual({
    environment_setup: 1.3,
    agent_setup: 2,
    agent_execution: 10.5,
    verifier: 4,
    total: 21.1,
  });
});

test("a control has no agent to set up, and what never ran is absent", () => {
  expect(timingOf([span("start", 1), span("setup", 1), span("verify", 2)], "nop")).toEqual({
    environment_setup: 2,
    verifier: 2,
    total: 4,
  });
  expect(timingOf([], "oracle")).toEqual({ total: 0 });
});
