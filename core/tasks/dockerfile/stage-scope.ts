import type { CommandLine } from "./instruction.ts";
import type { Variables } from "./expand-word.ts";

/** The part of an image's configuration that a Dockerfile reads or writes. */
export interface ImageConfig {
  readonly env: Variables;
  readonly labels: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly workdir: string;
  /** As `USER` gave it: a name or id, with or without a group; "" and "root" are root. */
  readonly user: string;
  /** What a `RUN` in shell form is handed to. */
  readonly shell: readonly string[];
  readonly entrypoint: CommandLine | null;
  readonly command: CommandLine | null;
  readonly stopSignal: string | null;
  readonly exposedPorts: readonly string[];
  readonly volumes: readonly string[];
}

/** What holds at one point of a stage. Immutable: `applyInstruction` gives the next one. */
export interface StageScope {
  readonly config: ImageConfig;
  /** `ARG`s of this stage that have a value. */
  readonly args: Variables;
  /** Values a bare `ARG NAME` takes: those before the first `FROM` and the platform's own. */
  readonly globals: Variables;
  /** Values given from outside, `--build-arg`. They beat defaults. */
  readonly buildArgs: Variables;
  readonly escape: string;
  readonly fileName: string;
}

/** The configuration of `scratch`. */
export const EMPTY_IMAGE: ImageConfig = {
  env: {},
  labels: {},
  workdir: "/",
  user: "",
  shell: ["/bin/sh", "-c"],
  entrypoint: null,
  command: null,
  stopSignal: null,
  exposedPorts: [],
  volumes: [],
};

/** Docker's PATH for an image that sets none. */
export const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The environment of a `RUN` step: `ARG`s, then `ENV`, which wins. */
export function runEnvironment(scope: StageScope): Variables {
  return { PATH: DEFAULT_PATH, ...scope.args, ...scope.config.env };
}
