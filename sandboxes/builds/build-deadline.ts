import { timerMs } from "../../core/model/timer-limit.ts";
import { type ImageRequest, SandboxError } from "../../core/ports/sandbox.ts";

/** The caller's signal and the build's own time limit in one; `release` ends the waiting. */
export interface BuildDeadline {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** Starts the clock of a build. Past `timeoutMs` the signal's reason is a `build-timeout`. */
export function startBuildDeadline({
  signal,
  timeoutMs,
}: Pick<ImageRequest, "signal" | "timeoutMs">): BuildDeadline {
  const controller = new AbortController();
  const onAbort = (): void => {
    controller.abort(signal.reason);
  };
  const timer = setTimeout(() => {
    const seconds = String(timeoutMs / 1000);
    controller.abort(new SandboxError("build-timeout", `the image was not ready in ${seconds} s`));
  }, timerMs(timeoutMs));
  signal.addEventListener("abort", onAbort);
  const release = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  return { signal: controller.signal, release };
}
