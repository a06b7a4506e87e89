declare const __BENCH_VERSION__: string;

/** The version in package.json, put in by the build; `0.0.0-source` when run from source. */
export const VERSION =
  typeof __BENCH_VERSION__ === "undefined" ? "0.0.0-source" : __BENCH_VERSION__;

/** The BenchFlow version whose commands, files and numbers this edition follows (design 12). */
export const EMULATED_BENCHFLOW = "0.9.2";
