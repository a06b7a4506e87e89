declare const BENCH_VERSION_OF_BUILD: string;

/** The version in package.json, put in by the build; `0.0.0-source` when run from source. */
export const VERSION =
  typeof BENCH_VERSION_OF_BUILD === "undefined" ? "0.0.0-source" : BENCH_VERSION_OF_BUILD;

/** Who ran a trial, as its config.json says. */
export const TOOL = `benchflow-cloud ${VERSION}`;
