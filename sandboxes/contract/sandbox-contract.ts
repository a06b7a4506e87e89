import { commandPromises } from "./command-promises.ts";
import { filePromises } from "./file-promises.ts";
import { forwardPromises } from "./forward-promises.ts";
import { lifePromises } from "./life-promises.ts";
import { limitPromises } from "./limit-promises.ts";
import { processPromises } from "./process-promises.ts";
import type { SandboxPromise } from "./sandbox-promise.ts";
import { streamPromises } from "./stream-promises.ts";
import { wallPromises } from "./wall-promises.ts";

/** Every promise of the sandbox port, in the order in which a reader wants to see them fail. */
export const sandboxContract: readonly SandboxPromise[] = [
  ...commandPromises,
  ...streamPromises,
  ...filePromises,
  ...processPromises,
  ...wallPromises,
  ...forwardPromises,
  ...limitPromises,
  ...lifePromises,
];
