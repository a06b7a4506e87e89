import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import type { Clock } from "../../core/ports/clock.ts";
import {
  type ByteStream,
  type PreparedImage,
  type ProcessMark,
  type Sandbox,
  SandboxError,
  type SandboxProcess,
} from "../../core/ports/sandbox.ts";
import { KeptOutput } from "../verifier/kept-output.ts";
import { findImageUser } from "./find-image-user.ts";

export interface EntrypointRequest {
  readonly image: PreparedImage;
  /** The sandbox's own environment, of the image and the task. */
  readonly env: Readonly<Record<string, string>>;
  readonly folder: AttemptFolder;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** An image's ENTRYPOINT at work in its sandbox. */
export interface RunningEntrypoint {
  readonly uid: number;
  /** What ran before it: all that came since, until an agent starts, is the task's own. */
  readonly before: ProcessMark;
  /**
   * Writes the rest of what is kept of its output; resolves to what a reader of the result should
   * know: that it had ended by itself. Nothing of the sandbox is touched. Idempotent.
   */
  end(): Promise<readonly string[]>;
}

const OUTPUT_FILE = "entrypoint.txt";
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** How long an ENTRYPOINT that never comes to its command, a server in front, is waited for. */
const PATIENCE_MS = 5000;
const LAST_WORDS_MS = 200;
const SHOWN_CHARS = 300;
const STARTED = "benchflow: the ENTRYPOINT has come to its command";
/** 68 years; `infinity` is not known to every sleep. */
const COMMAND = ["sh", "-c", `echo '${STARTED}'; exec sleep 2147483647`] as const;

/**
 * Starts an image as BenchFlow and Harbor do: its ENTRYPOINT, with a command behind it that waits
 * (theirs is `sh -c "sleep infinity"`), as the image's user, in the image's folder. Resolves when it
 * came to that command, or still runs after 5 s; null for an image without one. What it prints goes to
 * `entrypoint.txt`. Throws `SandboxError`: `entrypoint-ended` when it ended,
 * `unsupported` when its user cannot be had here.
 */
export async function startEntrypoint(
  sandbox: Sandbox,
  request: EntrypointRequest,
): Promise<RunningEntrypoint | null> {
  const { image, folder } = request;
  const [program, ...args] = image.entrypoint ?? [];
  if (program === undefined) return null;
  const user = await findImageUser(sandbox, image.user, request.signal);
  const before = await sandbox.mark();
  const child = await sandbox.spawn({
    argv: [program, ...args, ...COMMAND],
    uid: user.uid,
    cwd: image.workdir === "" ? "/" : image.workdir,
    env: { HOME: user.home, ...request.env },
  });
  await child.closeStdin();
  const output = new KeptOutput(await folder.append(OUTPUT_FILE), MAX_OUTPUT_BYTES);
  const watched = new WatchedEntrypoint(child, output, request.clock);
  try {
    await watched.untilStarted(request);
  } catch (error) {
    await watched.end();
    throw error;
  }
  return { uid: user.uid, before, end: async () => await watched.end() };
}

class WatchedEntrypoint {
  exitCode: number | null = null;
  readonly #output: KeptOutput;
  readonly #ended: Promise<void>;
  /** Resolves when the marker of the command was printed. */
  readonly #started: Promise<void>;
  #onStarted: () => void = () => undefined;
  #recent = "";
  #isClosed = false;
  readonly #clock: Clock;

  constructor(child: SandboxProcess, output: KeptOutput, clock: Clock) {
    this.#output = output;
    this.#clock = clock;
    this.#started = new Promise((resolve) => {
      this.#onStarted = resolve;
    });
    const streams = Promise.all([this.#follow(child.stdout), this.#follow(child.stderr)]);
    this.#ended = this.#watch(child, streams);
  }

  async untilStarted({ clock, signal }: EntrypointRequest): Promise<void> {
    const waiting = new AbortController();
    const patience = clock.sleep(PATIENCE_MS, AbortSignal.any([signal, waiting.signal]));
    try {
      await Promise.race([this.#started, this.#ended, patience]);
    } finally {
      waiting.abort();
      patience.catch(() => undefined);
    }
    if (this.exitCode === null) return;
    const words = this.#recent.trim().slice(-SHOWN_CHARS);
    throw new SandboxError(
      "entrypoint-ended",
      `the image's ENTRYPOINT ended with exit code ${String(this.exitCode)}, and has to keep running or end in exec "$@": ${words}`,
    );
  }

  async end(): Promise<readonly string[]> {
    if (this.#isClosed) return [];
    this.#isClosed = true;
    await this.#output.end();
    return this.exitCode === null
      ? []
      : [`the image's ENTRYPOINT ended by itself, with exit code ${String(this.exitCode)}`];
  }

  async #watch(child: SandboxProcess, streams: Promise<unknown>): Promise<void> {
    // The process's end is what tells; a stream that breaks with its sandbox says nothing more.
    streams.catch(() => undefined);
    try {
      const code = await child.exitCode;
      await this.#awaitLastWords(streams);
      this.exitCode = code;
    } catch (error) {
      // A sandbox that is gone tells whoever calls it next.
      if (!(error instanceof SandboxError)) throw error;
    }
  }

  /** What a process left behind may hold the streams open for ever. */
  async #awaitLastWords(streams: Promise<unknown>): Promise<void> {
    const waiting = new AbortController();
    const patience = this.#clock.sleep(LAST_WORDS_MS, waiting.signal);
    try {
      await Promise.race([streams, patience]);
    } finally {
      waiting.abort();
      patience.catch(() => undefined);
    }
  }

  async #follow(stream: ByteStream): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      if (this.#isClosed) continue;
      this.#output.take(chunk);
      this.#recent = (this.#recent + decoder.decode(chunk, { stream: true })).slice(-1000);
      if (this.#recent.includes(STARTED)) this.#onStarted();
    }
  }
}
