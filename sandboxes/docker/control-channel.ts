import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { deferred } from "./deferred.ts";
import type { EngineClient } from "./engine-client.ts";
import { FrameScanner, type Scanned } from "./frame-scanner.ts";
import { readStdioFrames } from "./stdio-frames.ts";
import { SUPERVISOR_PROGRAM } from "./supervisor-script.ts";

/** Longest wait for the supervisor: it answers in milliseconds unless root inside has stopped it. */
const ANSWER_TIMEOUT_MS = 60_000;

/** Longest wait for a supervisor to end by itself. */
const HANG_UP_MS = 250;

type StreamName = "stdout" | "stderr";
type OnOutput = (stream: StreamName, chunk: Uint8Array) => void;

interface Pending {
  readonly parts: string[];
  readonly resolve: (parts: string[]) => void;
  readonly reject: (error: Error) => void;
}

interface Job {
  readonly id: string;
  readonly onOutput: OnOutput;
  /** Its process inside, once it has said so. */
  pid: string | null;
  /** Streams that are the job's: from the frame that begins it to the one that ends it. */
  readonly begun: Set<StreamName>;
  readonly ended: Set<StreamName>;
  readonly resolve: (end: JobEnd) => void;
  readonly reject: (error: unknown) => void;
}

/** How a job of the worker ended: an exit code, or not started because the worker cannot take it. */
export type JobEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "no-folder" }
  | { readonly kind: "not-started" };

/** The streams of a container's first process. */
export interface AttachedStreams {
  readonly socket: Duplex;
  readonly frames: ReturnType<typeof readStdioFrames>;
}

export interface Worker {
  readonly pid: string;
  /** The program that starts a session of its own; null where the image has none. */
  readonly setsid: string | null;
}

/** Attaches to a container that has not been started yet, so that nothing it says is missed. */
export async function attachTo(
  client: EngineClient,
  containerId: string,
): Promise<AttachedStreams> {
  const query = { stream: 1, stdin: 1, stdout: 1, stderr: 1 };
  const socket = await client.hijack(`/containers/${containerId}/attach`, { query });
  return { socket, frames: readStdioFrames(socket) };
}

/**
 * The line to a container's supervisor: the attached streams of PID 1. Requests cost a millisecond,
 * where an exec through the daemon costs fifty. When the stream ends, the sandbox is lost.
 */
export class ControlChannel {
  readonly #socket: Duplex;
  readonly #token = randomBytes(16).toString("hex");
  readonly #pending = new Map<string, Pending>();
  #sequence = 0;
  #job: Job | null = null;
  #worker: Worker | null = null;
  #greeted = false;
  #ready = deferred();
  #closed = false;
  readonly closed: Promise<void>;

  constructor({ socket, frames }: AttachedStreams) {
    this.#socket = socket;
    this.closed = this.#readAll(frames);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Resolves when the supervisor of a started container answers. */
  async greet(): Promise<void> {
    await this.#write(`${SUPERVISOR_PROGRAM}${this.#token}\n`);
    await this.#withinTime(this.#ready.promise);
  }

  /** Sends one line, its newline included, that answers under the sequence number it is given; resolves to the answer's parts. */
  async request(line: (sequence: string) => Uint8Array): Promise<string[]> {
    await this.#withinTime(this.#ready.promise);
    this.#sequence += 1;
    const sequence = String(this.#sequence);
    const answer = new Promise<string[]>((resolve, reject) => {
      this.#pending.set(sequence, { parts: [], resolve, reject });
    });
    answer.catch(() => undefined);
    try {
      await this.#write(line(sequence));
      return await this.#withinTime(answer);
    } finally {
      this.#pending.delete(sequence);
    }
  }

  /** The present job's process inside; null without one. */
  get jobPid(): string | null {
    return this.#job?.pid ?? null;
  }

  /** Runs one line in the worker. `not-started` when it is busy or its output is not its own. */
  async runJob(line: (id: string, worker: Worker) => string, onOutput: OnOutput): Promise<JobEnd> {
    if (this.#job !== null) return { kind: "not-started" };
    await this.#withinTime(this.#ready.promise);
    const worker = this.#worker;
    if (worker === null || this.#job !== null) return { kind: "not-started" };
    this.#sequence += 1;
    const id = String(this.#sequence);
    const end = new Promise<JobEnd>((resolve, reject) => {
      const [begun, ended] = [new Set<StreamName>(), new Set<StreamName>()];
      this.#job = { id, onOutput, pid: null, begun, ended, resolve, reject };
    });
    end.catch(() => undefined);
    try {
      await this.#write(`try ${id}\n${line(id, worker)}\n`);
      return await end;
    } finally {
      this.#job = null;
    }
  }

  /** Starts the supervisor's pair anew, after everything in the sandbox was killed, its worker too. */
  async restart(): Promise<void> {
    this.#job?.reject(lost("its worker was killed"));
    this.#renew();
    await this.#write("exit 0\n");
    await this.#withinTime(this.#ready.promise);
  }

  close(): void {
    this.#socket.destroy();
  }

  /**
   * Ends the supervisor's stdin, and with it PID 1 and everything in the container; resolves when it has
   * ended, or soon: whoever keeps it from ending is killed by the daemon.
   */
  async hangUp(): Promise<void> {
    this.#socket.end();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, HANG_UP_MS);
    });
    await Promise.race([this.closed, late]);
    clearTimeout(timer);
  }

  async #readAll(frames: AttachedStreams["frames"]): Promise<void> {
    const scanners = {
      stdout: new FrameScanner(this.#token),
      stderr: new FrameScanner(this.#token),
    };
    try {
      for await (const { stream, chunk } of frames)
        for (const scanned of scanners[stream].scan(chunk)) this.#take(stream, scanned);
    } catch {
      // A stream that breaks and one that ends mean the same: the container, or the way to it, is gone.
    }
    this.#closed = true;
    this.#failRequests("its supervisor's stream ended");
    this.#job?.reject(lost("its supervisor's stream ended"));
    this.#ready.reject(lost("its supervisor's stream ended"));
  }

  #take(stream: StreamName, scanned: Scanned): void {
    if (scanned.kind === "output") {
      if (this.#job?.begun.has(stream) === true && !this.#job.ended.has(stream))
        this.#job.onOutput(stream, scanned.bytes);
      return;
    }
    const [kind = "", id = "", rest = "", ...more] = scanned.text.split(" ");
    if (kind === "h" || kind === "k") this.#takeGreeting(kind, id, rest);
    if (kind === "c") this.#takeAnswer(id, rest, more.join(" "));
    if (this.#job?.id !== id) return;
    if (kind === "b") this.#job.begun.add(stream);
    if (kind === "j") this.#job.pid = rest;
    if (kind === "w") this.#takeJobEnd(this.#job, stream, rest);
  }

  /** The pair greets when it starts, in any order. A greeting out of turn: it was killed from inside. */
  #takeGreeting(kind: "h" | "k", pid: string, setsid: string): void {
    if (this.#ready.isSettled) this.#surviveKill();
    if (kind === "h") this.#greeted = true;
    else if (/^\d+$/u.test(pid)) this.#worker = { pid, setsid: setsid === "" ? null : setsid };
    if (!this.#greeted || this.#worker === null) return;
    this.#socket.write(`WK=${this.#worker.pid}\n`);
    this.#ready.resolve();
  }

  #takeAnswer(sequence: string, kind: string, payload: string): void {
    const pending = this.#pending.get(sequence);
    if (pending === undefined) return;
    pending.parts.push(payload);
    if (kind === ".") pending.resolve(pending.parts);
  }

  #takeJobEnd(job: Job, stream: StreamName, code: string): void {
    if (code === "held" || code === "dead") {
      job.resolve({ kind: "not-started" });
      return;
    }
    job.ended.add(stream);
    if (job.ended.size < 2) return;
    job.resolve(
      code === "no-folder" ? { kind: "no-folder" } : { kind: "exited", code: Number(code) },
    );
  }

  /**
   * Root inside killed the pair. Requests under way have no answer any more. A job may have outlived
   * its worker: then it is waited for, and its exit code, which nobody can know, is that of a kill.
   */
  #surviveKill(): void {
    this.#failRequests("its supervisor was killed from inside");
    this.#renew();
    const job = this.#job;
    if (job === null) return;
    const waiting = async (): Promise<void> => {
      while (job.pid !== null && (await this.#isAlive(job.pid))) await pause(50);
      job.resolve({ kind: "exited", code: 137 });
    };
    waiting().catch(job.reject);
  }

  async #isAlive(pid: string): Promise<boolean> {
    const answer = await this.request((sequence) => Buffer.from(`alive ${sequence} ${pid}\n`));
    return answer.at(-1) === "1";
  }

  #renew(): void {
    this.#worker = null;
    this.#greeted = false;
    this.#ready = deferred();
  }

  #failRequests(reason: string): void {
    const error = lost(reason);
    for (const pending of this.#pending.values()) pending.reject(error);
    this.#pending.clear();
  }

  async #write(text: string | Uint8Array): Promise<void> {
    if (this.#closed || this.#socket.destroyed) throw lost("its supervisor's stream ended");
    if (this.#socket.write(text)) return;
    await Promise.race([once(this.#socket, "drain"), this.closed]);
  }

  async #withinTime<Value>(promise: Promise<Value>): Promise<Value> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(lost(`its supervisor gave no answer within ${String(ANSWER_TIMEOUT_MS / 1000)} s`));
      }, ANSWER_TIMEOUT_MS);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function lost(reason: string): SandboxError {
  return new SandboxError("lost", `sandbox lost: ${reason}`);
}
