/** Flags of BenchFlow that this edition knows and does not have yet: refused, never ignored. */
export const UNBUILT_RUN_FLAGS: readonly string[] = [
  "--allow-login-in-sandbox",
  "--integrity <mode>",
  "--reviewer-agent <name>",
  "--reviewer-model <model>",
  "--config <file>",
  "--matrix <file>",
  "--source-repo <repo>",
  "--source-env <name>",
  "--registry <source>",
  "--skill-creator-dir <dir>",
  "--self-gen-no-internet",
  "--loop-strategy <spec>",
  "--usage-tracking <mode>",
  "--config-override <patch>",
  "--publish-hf <repo>",
];
