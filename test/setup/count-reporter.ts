import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** What `npm test` sums over the suites. */
export interface SuiteCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

/** Writes a suite's counts as JSON to `$BENCH_TEST_COUNTS`, each skipped test with its reason. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    let passed = 0;
    // An error outside a test, or a file that did not load, is a failure too.
    let failed = errors.length;
    const skipped: { name: string; reason: string }[] = [];
    for (const module of modules) {
      if (module.errors().length > 0) failed += 1;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "passed") passed += 1;
        else if (result.state === "skipped")
          skipped.push({ name: test.fullName, reason: result.note ?? "no reason given" });
        else failed += 1;
      }
    }
    const path = process.env["BENCH_TEST_COUNTS"];
    if (path !== undefined) writeFileSync(path, JSON.stringify({ passed, failed, skipped }));
  }
}
