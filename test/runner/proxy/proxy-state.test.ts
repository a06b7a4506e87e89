import fc from "fast-check";
import { expect, test } from "vitest";
import { CallEnd } from "../../../core/model/exchange.ts";
import { NO_TOKENS } from "../../../core/model/usage-buckets.ts";
import type { UsageReading } from "../../../core/model/usage-reading.ts";
import { judgeModels } from "../../../core/outcome/judge-models.ts";
import { CallRecord } from "../../../runner/proxy/call-record.ts";
import { DEFAULT_LIMITS } from "../../../runner/proxy/proxy-options.ts";
import { Redactor } from "../../../runner/proxy/redact/redactor.ts";
import { ProxyState } from "../../../runner/proxy/proxy-state.ts";

const STATUSES = [200, 204, 302, 400, 401, 402, 403, 404, 408, 413, 418, 429, 500, 503, 529];

/** A reply that told its use, with or without an error in it; null for one that held nothing. */
function aReading(error: string | null): UsageReading {
  const tokens = NO_TOKENS;
  const facts = {
    model: "m",
    stopReason: null,
    reasoning: null,
    extras: [],
    error,
    unreadableEvents: 0,
  };
  return { status: "complete", tokens, ...facts, raw: null };
}

const READINGS = [null, aReading(null), aReading("overloaded_error"), aReading("not_found_error")];

function aCall(over: Pick<CallRecord, "end" | "upstreamStatus" | "reading">): CallRecord {
  const at = { index: 0, now: new Date(0), startMs: 0, method: "POST", path: "/v1/messages" };
  return Object.assign(new CallRecord(at), { purpose: "main", ...over });
}

/** Whether one such request is counted towards those that fail in a row. */
function isCounted(call: CallRecord): boolean {
  const world = { monotonicMs: () => 0, onEvent: () => undefined };
  const state = new ProxyState({ ...DEFAULT_LIMITS, failuresInRow: 1 }, world);
  state.count(call);
  return state.stopped?.reason === "provider-failing";
}

test("what stops a trial that fails in a row is what voids its score, for every end and status", () => {
  const good = aCall({ end: "answered", upstreamStatus: 200, reading: aReading(null) }).row(
    1,
    new Redactor([]),
  );
  const seen = new Set<boolean>();
  fc.assert(
    fc.property(
      fc.constantFrom(...CallEnd.options),
      fc.option(fc.constantFrom(...STATUSES), { nil: null }),
      fc.constantFrom(...READINGS),
      (end, upstreamStatus, reading) => {
        const call = aCall({ end, upstreamStatus, reading });
        const isVoid = judgeModels([good, call.row(1, new Redactor([]))], null).kind === "failed";
        expect(isCounted(call)).toBe(isVoid);
        seen.add(isVoid);
      },
    ),
    { numRuns: 500 },
  );
  expect(seen.size).toBe(2);
});

test.each([
  ["answered", 429, 1, true],
  ["answered", 400, 1, false],
  ["answered", 200, 0, true],
  ["answered", 200, 1, false],
  ["answered", 200, 2, true],
  ["answered", 200, 3, false],
  ["cut", 200, 1, true],
  ["capped", 500, 1, false],
  ["aborted", null, 0, false],
] as const)("a request that ended as %s with %s and reading %i: %s", (...row) => {
  const [end, upstreamStatus, at, isFailure] = row;
  expect(isCounted(aCall({ end, upstreamStatus, reading: READINGS[at] ?? null }))).toBe(isFailure);
});
