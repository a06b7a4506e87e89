import type { ErrorCategory, Fault } from "../model/outcome.ts";
import type { SandboxFailure } from "../ports/sandbox.ts";

/** How a sandbox's failure counts when it left the trial without a verdict (spec 2.3, 2.7). */
export function classifySandboxFailure(failure: SandboxFailure): {
  readonly fault: Fault;
  readonly category: ErrorCategory;
} {
  switch (failure) {
    // The task's own image: the same files build or start no better a second time.
    case "build-failed":
    case "entrypoint-ended":
      return { fault: "task", category: "sandbox_setup" };
    case "build-lost":
    case "build-timeout":
    case "image-missing":
    case "start-failed":
      return { fault: "infrastructure", category: "sandbox_setup" };
    case "lost":
    case "not-found":
    case "disk-full":
    case "backend-unavailable":
      return { fault: "infrastructure", category: "infra_failure" };
    // A second try would meet the same path and the same backend, so neither is retried.
    case "unsafe-path":
      return { fault: "task", category: "other" };
    case "unsupported":
      return { fault: "setup", category: "other" };
  }
}
