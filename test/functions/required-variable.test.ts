import { afterEach, expect, test, vi } from "vitest";
import { handler } from "../../functions/aggregate/main.ts";
import { requiredVariable } from "../../functions/required-variable.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a variable that the deployment sets is read", () => {
  expect(requiredVariable({ BENCH_BUCKET: "runs" }, "BENCH_BUCKET")).toBe("runs");
});

test.each([{}, { BENCH_BUCKET: "" }])("its lack is told by its name: %o", (env) => {
  expect(() => requiredVariable(env, "BENCH_BUCKET")).toThrow("variable BENCH_BUCKET is not set");
});

test("the aggregate asks no bucket without a name", async () => {
  vi.stubEnv("BENCH_BUCKET", undefined);
  await expect(handler({ run: "nightly" })).rejects.toThrow("variable BENCH_BUCKET is not set");
});
