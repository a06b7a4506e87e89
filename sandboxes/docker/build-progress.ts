import { SandboxError } from "../../core/ports/sandbox.ts";
import { findFetcher } from "../../core/tasks/dockerfile/find-fetch.ts";
import { isDiskFull } from "./engine-error.ts";
import type { EngineEvent } from "./event-lines.ts";

const SHOWN_LINES = 5;
const SHOWN_CHARS = 600;
const STEP = /^Step \d+\/\d+ : (?<keyword>\S+)\s*(?<rest>[^]*)$/u;

/** The daemon prints what a step writes to stderr in red, and words of its own between. */
const COLOUR = /\p{Cc}\[\d*m/gu;
const OF_THE_DAEMON = /^(?:---> |Removing intermediate container )/u;

/** Steps that the daemon does itself; it reports no exit code, and what fails there is the Dockerfile's. */
const OF_THE_TASK: ReadonlySet<string> = new Set(
  "COPY ADD WORKDIR USER ENV ARG LABEL EXPOSE VOLUME SHELL CMD ENTRYPOINT HEALTHCHECK STOPSIGNAL MAINTAINER ONBUILD".split(
    " ",
  ),
);

/** Follows a build by what the daemon announces: the step it is at and the last lines printed there. */
export class BuildProgress {
  #keyword = "";
  #rest = "";
  #lines: string[] = [];

  take(line: string): void {
    const { keyword, rest } = STEP.exec(line)?.groups ?? {};
    if (keyword === undefined) {
      const text = line.replaceAll(COLOUR, "").trim();
      if (text !== "" && !OF_THE_DAEMON.test(text))
        this.#lines = [...this.#lines, text].slice(-SHOWN_LINES);
      return;
    }
    this.#keyword = keyword.toUpperCase();
    this.#rest = rest ?? "";
    this.#lines = [];
  }

  /**
   * The error that ended the build. A command's exit code makes it the task's own failure, unless the
   * step fetches from the network, whose loss would look the same. Without one the daemon failed,
   * except in the steps that are nothing but the context and the Dockerfile.
   */
  failureOf({ error = "", errorDetail }: EngineEvent): SandboxError {
    if (isDiskFull(error)) return new SandboxError("disk-full", error);
    const shown = this.#lines.join(" | ").slice(-SHOWN_CHARS);
    const fetcher = this.#fetcher();
    if (fetcher !== null) {
      const why = `it calls ${fetcher}, so the network may be why`;
      return new SandboxError("build-lost", [error, shown, why].filter(Boolean).join(": "));
    }
    const isOwn = typeof errorDetail?.code === "number" || OF_THE_TASK.has(this.#keyword);
    return new SandboxError(
      isOwn ? "build-failed" : "build-lost",
      shown === "" ? error : `${error}: ${shown}`,
    );
  }

  #fetcher(): string | null {
    if (this.#keyword === "RUN") return findFetcher(this.#rest);
    return this.#keyword === "ADD" && /:\/\/|git@/u.test(this.#rest) ? "ADD of an address" : null;
  }
}
