import { once } from "node:events";
import type { Duplex } from "node:stream";
import * as z from "zod";
import { type Command, SandboxError } from "../../core/ports/sandbox.ts";
import { deferred } from "./deferred.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import { execBody } from "./exec-wrapper.ts";
import { readStdioFrames, type StdioFrame } from "./stdio-frames.ts";

const Created = z.looseObject({ Id: z.string() });
const Inspected = z.looseObject({ Running: z.boolean(), ExitCode: z.number().nullable() });

/** The wrapper's first line; more than this without a newline is not it. */
const MAX_GREETING_BYTES = 64;

/** The daemon books an exec's end a moment after its streams close. */
const SETTLE_MS = 20_000;

/** One command under way through the daemon's exec API: streams, pid inside, exit code. */
export class ExecSession {
  readonly #client: EngineClient;
  readonly #id: string;
  readonly #socket: Duplex;
  readonly #greeted = deferred();
  readonly #ended = deferred();
  #greeting = Buffer.alloc(0);
  #pid: string | null = null;
  #missesFolder = false;

  private constructor(client: EngineClient, id: string, socket: Duplex) {
    this.#client = client;
    this.#id = id;
    this.#socket = socket;
  }

  /** Starts a command. Throws `lost` when the container does not run any more. */
  static async start(
    client: EngineClient,
    containerId: string,
    command: Command,
    hasStdin: boolean,
  ): Promise<ExecSession> {
    try {
      const json = execBody(command, hasStdin);
      const { Id } = await client.json(Created, "POST", `/containers/${containerId}/exec`, {
        json,
      });
      const start = { json: { Detach: false, Tty: false } };
      return new ExecSession(client, Id, await client.hijack(`/exec/${Id}/start`, start));
    } catch (error) {
      const isGone = hasStatus(error, 404, 409);
      throw asSandboxError(
        error,
        isGone ? "lost" : "start-failed",
        `cannot start ${command.argv[0]}`,
      );
    }
  }

  /** The command's output as it comes, without the wrapper's line. To be read by one reader, to its end. */
  async *frames(): AsyncGenerator<StdioFrame, void, undefined> {
    try {
      for await (const frame of readStdioFrames(this.#socket)) {
        const chunk = frame.stream === "stderr" ? this.#afterGreeting(frame.chunk) : frame.chunk;
        if (chunk.byteLength > 0) yield { stream: frame.stream, chunk };
      }
    } finally {
      this.#greeted.resolve();
      this.#ended.resolve();
    }
  }

  /** Resolves when the streams have ended or nobody reads them any more. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The command's pid inside; null when it never came to be. Needs `frames()` to be read. */
  async pid(): Promise<string | null> {
    await this.#greeted.promise;
    return this.#pid;
  }

  /** Resolves to false when the command has closed its stdin or is gone: then nobody wants the bytes. */
  async write(bytes: Uint8Array): Promise<boolean> {
    if (this.#socket.destroyed || !this.#socket.writable) return false;
    if (this.#socket.write(bytes)) return true;
    // What is not waited for any more listens no more: a long input waits thousands of times.
    const waiting = new AbortController();
    const { signal } = waiting;
    const resumed = [
      once(this.#socket, "drain", { signal }),
      once(this.#socket, "close", { signal }),
    ];
    // A connection that breaks is seen by the reader of the output.
    await Promise.race(resumed).catch(() => undefined);
    waiting.abort();
    return this.#socket.writable;
  }

  closeStdin(): void {
    if (this.#socket.writable) this.#socket.end();
  }

  /** Drops the connection: what comes later is not read. */
  abandon(): void {
    this.#socket.destroy();
    this.#ended.resolve();
  }

  /** The exit code after the streams have ended. Throws when the command did not start. */
  async exitCode(command: Command, output: () => string): Promise<number> {
    if (this.#missesFolder)
      throw new SandboxError("not-found", `no folder ${JSON.stringify(command.cwd)} to run in`);
    const code = await this.#inspectEnd();
    if (this.#pid === null)
      throw new SandboxError(
        "start-failed",
        `cannot start ${command.argv[0]}: ${output().trim().slice(0, 500)}`,
      );
    return code;
  }

  async #inspectEnd(): Promise<number> {
    const until = performance.now() + SETTLE_MS;
    for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 200)) {
      const { Running, ExitCode } = await this.#inspect();
      if (!Running && ExitCode !== null) return ExitCode;
      if (performance.now() > until)
        throw new SandboxError("lost", "the command's streams ended and it is said to run on");
      await new Promise((resolve) => {
        setTimeout(resolve, waitMs);
      });
    }
  }

  async #inspect(): Promise<z.infer<typeof Inspected>> {
    try {
      return await this.#client.json(Inspected, "GET", `/exec/${this.#id}/json`);
    } catch (error) {
      throw asSandboxError(error, "lost", "sandbox lost");
    }
  }

  #afterGreeting(chunk: Uint8Array): Uint8Array {
    if (this.#greeted.isSettled) return chunk;
    this.#greeting = Buffer.concat([this.#greeting, chunk]);
    const end = this.#greeting.indexOf(0x0a);
    if (end < 0 && this.#greeting.byteLength < MAX_GREETING_BYTES) return new Uint8Array();
    const line = this.#greeting.toString("latin1", 0, Math.max(0, end));
    const [, pid] = /^p (\d+)$/u.exec(line) ?? [];
    this.#missesFolder = line === "d";
    const isGreeting = pid !== undefined || this.#missesFolder;
    this.#pid = pid ?? null;
    this.#greeted.resolve();
    return isGreeting ? this.#greeting.subarray(end + 1) : this.#greeting;
  }
}
