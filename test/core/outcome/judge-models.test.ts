import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RequestRow } from "../../../core/model/exchange.ts";
import { judgeModels } from "../../../core/outcome/judge-models.ts";
import { aRequestRow } from "./a-request-row.ts";

const answered = (status: number, over: Partial<RequestRow> = {}): RequestRow =>
  aRequestRow({ status, upstream_status: status, ...over });
const broken = (end: "cut" | "timeout" | "unreachable"): RequestRow =>
  aRequestRow({ end, upstream_status: end === "cut" ? 200 : null });

describe("the provider's fault", () => {
  test.each([
    { status: 401, category: "provider_auth", subcategory: "auth", transient: false },
    { status: 403, category: "provider_auth", subcategory: "auth", transient: false },
    { status: 402, category: "api_error", subcategory: "quota", transient: false },
    { status: 408, category: "api_error", subcategory: "provider_error", transient: true },
    { status: 429, category: "provider_rate_limit", subcategory: "rate_limit", transient: true },
    { status: 500, category: "api_error", subcategory: "provider_error", transient: true },
    { status: 529, category: "api_error", subcategory: "provider_error", transient: true },
  ])("is a last answer of $status", ({ status, category, subcategory, transient }) => {
    expect(judgeModels([answered(200), answered(status)], null)).toMatchObject({
      kind: "failed",
      error: { category, ...(transient ? { transient } : {}) },
      info: {
        subcategory,
        transient,
        dominant_status: status,
        total_requests: 2,
        failed_requests: 1,
      },
    });
  });

  test.each(["cut", "timeout", "unreachable"] as const)("is an answer that ended %s", (end) => {
    expect(judgeModels([answered(200), broken(end)], null)).toMatchObject({
      kind: "failed",
      error: { category: "api_error", transient: true },
      info: { dominant_status: null, status_counts: { [end === "cut" ? "200" : end]: 1 } },
    });
  });

  test.each(["error", "empty"] as const)("is an answer of 200 that is %s", (failure) => {
    const row = answered(200, { reply_failure: failure });
    expect(judgeModels([answered(200), row], null)).toMatchObject({
      kind: "failed",
      error: { category: "api_error", transient: true },
      info: { subcategory: "provider_error", dominant_status: null, failed_requests: 1 },
    });
    expect(judgeModels([row, answered(200)], null)).toEqual({ kind: "sound" });
  });

  test("is no refusal within a 200 that the agent caused itself, once any was served", () => {
    const row = answered(200, { reply_failure: "rejected" });
    expect(judgeModels([answered(200), row], null).kind).toBe("rejected");
    expect(judgeModels([row], null)).toMatchObject({
      kind: "failed",
      error: { category: "api_error" },
      info: { subcategory: "rejected_request" },
    });
  });

  test("is redeemed by a later success of the main work, and by no side request's", () => {
    expect(judgeModels([answered(503), answered(200)], null)).toEqual({ kind: "sound" });
    for (const purpose of ["title", "suggestion", "memory", "classifier", "probe"] as const)
      expect(judgeModels([answered(503), answered(200, { purpose })], null).kind).toBe("failed");
  });

  test("is none where only a side request failed", () => {
    expect(judgeModels([answered(200), answered(503, { purpose: "title" })], null)).toEqual({
      kind: "sound",
    });
  });

  test("is none where the agent's own request was wrong, once any was served", () => {
    for (const status of [400, 404, 413]) {
      const end = judgeModels([answered(200), answered(status)], null);
      const message = expect.stringContaining(`(HTTP ${String(status)})`);
      expect(end).toEqual({ kind: "rejected", error: { category: "provider_rejected", message } });
      expect(judgeModels([answered(status), answered(200)], null)).toEqual({ kind: "sound" });
      const side = answered(status, { purpose: "title" });
      expect(judgeModels([answered(200), side], null)).toEqual({ kind: "sound" });
      // A failure of the provider stays one, whatever the agent asks after it.
      expect(judgeModels([answered(200), answered(503), answered(status)], null).kind).toBe(
        "failed",
      );
    }
  });

  test("is that nothing was ever served, whatever the status", () => {
    expect(judgeModels([answered(404), answered(404)], null)).toMatchObject({
      kind: "failed",
      error: { category: "api_error" },
      info: { subcategory: "model_not_found", fingerprint: "model_not_found:404" },
    });
  });

  test("is not undone by what the agent broke off afterwards", () => {
    expect(
      judgeModels([answered(503), aRequestRow({ end: "aborted", upstream_status: null })], null)
        .kind,
    ).toBe("failed");
  });
});

describe("the money's end", () => {
  test.each(["budget", "anomaly"] as const)(
    "by %s is told by its name, whatever was answered",
    (reason) => {
      expect(judgeModels([answered(503)], { reason, message: "why" })).toEqual({
        kind: reason,
        message: "why",
      });
    },
  );

  test("by the breaker voids the trial, which is told as its provider's failure where it met one", () => {
    const stop = { reason: "breaker", message: "open" } as const;
    expect(judgeModels([answered(200)], stop)).toEqual({ kind: "breaker", message: "open" });
    expect(judgeModels([], stop)).toEqual({ kind: "breaker", message: "open" });
    expect(judgeModels([answered(401)], stop)).toMatchObject({
      kind: "failed",
      error: { category: "provider_auth" },
    });
  });

  test("of the trial's own cap is a limit", () => {
    expect(judgeModels([answered(200)], { reason: "trial-limit", message: "m" }).kind).toBe(
      "trial-limit",
    );
  });

  test.each([
    ["ledger", "the ledger could not be kept: m"],
    ["proxy-failed", "the model proxy failed: m"],
  ] as const)("of a %s that fails is a failure of the surroundings", (reason, message) => {
    expect(judgeModels([answered(200)], { reason, message: "m" })).toMatchObject({
      kind: "failed",
      error: { category: "infra_failure", message },
    });
  });

  test.each(["unbounded", "unpriced"])(
    "for requests that are %s names what would help",
    (refusal) => {
      const refused = aRequestRow({ end: "refused", refusal, upstream_status: null });
      const end = judgeModels([refused], null);
      expect(end.kind).toBe("budget");
      expect(judgeModels([refused, answered(200)], null)).toEqual({ kind: "sound" });
    },
  );
});

test("a trial without a request of its main work is left to whoever saw what it did", () => {
  expect(judgeModels([], null)).toEqual({ kind: "sound" });
});

test("whatever happened before a success does not matter, and only statuses decide", () => {
  const anyRow = fc
    .record({
      status: fc.constantFrom(200, 400, 401, 429, 500, 503),
      end: fc.constantFrom("answered", "cut", "timeout", "aborted", "refused" as const),
    })
    .map(({ status, end }) => answered(status, { end }));
  fc.assert(
    fc.property(fc.array(anyRow), (rows) => {
      expect(judgeModels([...rows, answered(200)], null)).toEqual({ kind: "sound" });
      expect(judgeModels([...rows, answered(503)], null).kind).toBe("failed");
    }),
  );
});
