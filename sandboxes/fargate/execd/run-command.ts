import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants as files, mkdirSync, openSync, unlinkSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { InputPipe } from "../../command/input-pipe.ts";
import { OutputPipe } from "../../command/output-pipe.ts";
import { EntranceWords } from "../../command/entrance-words.ts";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import { markOf } from "../../processes.ts";
import type { Calls, Ran } from "../wire/calls.ts";
import { endProcesses, processTable, treeOf } from "./process-table.ts";

type RunCall = Extract<Calls, { method: "run" }>;

/** What a command's caller gives and gets while it runs. */
export interface RunStreams {
  readonly input: AsyncIterable<Uint8Array>;
  readonly started: () => Promise<void>;
  readonly output: (stream: "data" | "errors", bytes: Uint8Array) => Promise<void>;
  /** Aborted when the caller has given the command up. */
  readonly cancelled: AbortSignal;
}

const BAD_NAME = 125;

/** Runs commands as children of execd, each in a session of its own, on real pipes. */
export class CommandRunner {
  readonly #box: string;
  readonly #pipesDir: string;
  readonly #roots = new Set<number>();
  #pipes = 0;

  constructor(box: string, pipesDir: string) {
    this.#box = box;
    this.#pipesDir = pipesDir;
    mkdirSync(pipesDir, { recursive: true, mode: 0o700 });
  }

  async run(call: RunCall, streams: RunStreams): Promise<Ran> {
    const older = new Set(processTable().map(markOf));
    const pipes = await this.#openPipes();
    const child = this.#start(call, pipes);
    const words = new EntranceWords(child);
    for (const fd of [pipes.stdin.read, pipes.stdout.write, pipes.stderr.write]) closeSync(fd);
    const stdin = new InputPipe(pipes.stdin.write);
    const outputs = [
      { name: "data", pipe: new OutputPipe(pipes.stdout.read) },
      { name: "errors", pipe: new OutputPipe(pipes.stderr.read) },
    ] as const;
    const ended = exitOf(child);
    const root = child.pid ?? 0;
    this.#roots.add(root);
    const kill = async (): Promise<void> => {
      const others = new Set([...this.#roots].filter((pid) => pid !== root));
      const left = await endProcesses(treeOf(root, older, others));
      if (left > 0) throw new SandboxError("lost", `${String(left)} processes cannot be killed`);
    };
    const stop = watch(call.timeoutMs, streams.cancelled, kill);
    try {
      if ((await words.first()).startsWith("cwd")) {
        throw new SandboxError("not-found", "the command's working folder is missing");
      }
      await streams.started();
      void feed(stdin, streams.input);
      const reading = outputs.map(async ({ name, pipe }) => {
        for await (const chunk of pipe) await streams.output(name, chunk);
      });
      const exit = await ended;
      if (exit instanceof Error) throw new SandboxError("unsupported", exit.message);
      for (const { pipe } of outputs) pipe.commandOver();
      await Promise.all(reading);
      return { exitCode: exit, timedOut: await stop.over() };
    } finally {
      await stop.over();
      this.#roots.delete(root);
      stdin.close();
      for (const { pipe } of outputs) pipe.close();
    }
  }

  #start(call: RunCall, pipes: Pipes): ChildProcess {
    const args = ["run", String(call.uid), call.cwd, ...call.argv];
    return spawn(this.#box, args, {
      stdio: [pipes.stdin.read, pipes.stdout.write, pipes.stderr.write, "pipe"],
      env: call.env,
      cwd: "/",
      detached: true,
    });
  }

  /** Kills all of a user in one call that no fork can outrun, then looks who is left. */
  async endUser(uid: number): Promise<number> {
    if (uid !== 0) await ran(spawn(this.#box, ["end", String(uid)], { stdio: "ignore", env: {} }));
    return await endProcesses((rows) => rows.filter(({ uids }) => uids.includes(uid)));
  }

  async #openPipes(): Promise<Pipes> {
    this.#pipes += 1;
    const path = (name: string): string => join(this.#pipesDir, `${String(this.#pipes)}-${name}`);
    const paths = [path("in"), path("out"), path("err")] as const;
    const made = await ran(spawn(this.#box, ["fifo", ...paths], { stdio: "ignore", env: {} }));
    if (made !== 0) throw new SandboxError("start-failed", "no pipe can be made");
    return {
      stdin: openPipe(paths[0], "write"),
      stdout: openPipe(paths[1], "read"),
      stderr: openPipe(paths[2], "read"),
    };
  }
}

interface Pipe {
  readonly read: number;
  readonly write: number;
}
type Pipes = Readonly<Record<"stdin" | "stdout" | "stderr", Pipe>>;

/** Our end does not block. With a holder that reads and writes, no open waits for the other side. */
function openPipe(path: string, ours: "read" | "write"): Pipe {
  const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = files;
  const holder = openSync(path, O_RDWR | O_NONBLOCK);
  try {
    const read = openSync(path, ours === "read" ? O_RDONLY | O_NONBLOCK : O_RDONLY);
    const write = openSync(path, ours === "write" ? O_WRONLY | O_NONBLOCK : O_WRONLY);
    return { read, write };
  } finally {
    closeSync(holder);
    unlinkSync(path);
  }
}

/** Its end is the command's affair: one that reads no more is no failure of ours. */
async function feed(stdin: InputPipe, input: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of input) await stdin.write(chunk);
  await stdin.end();
}

interface Stop {
  /** Ends the watch; true when the deadline killed the command. Rejects when it could not be killed. */
  over(): Promise<boolean>;
}

function watch(timeoutMs: number | null, cancelled: AbortSignal, kill: () => Promise<void>): Stop {
  let killing: Promise<void> | null = null;
  let timedOut = false;
  const end = (): void => {
    killing ??= kill();
    killing.catch(() => undefined);
  };
  const timer =
    timeoutMs === null
      ? undefined
      : setTimeout(() => {
          timedOut = true;
          end();
        }, timeoutMs);
  cancelled.addEventListener("abort", end);
  if (cancelled.aborted) end();
  return {
    over: async () => {
      clearTimeout(timer);
      cancelled.removeEventListener("abort", end);
      await killing;
      return timedOut;
    },
  };
}

function exitOf(child: ChildProcess): Promise<number | Error> {
  return new Promise((resolve) => {
    child.once("error", resolve);
    child.once("exit", (code, signal) => {
      if (code === BAD_NAME) resolve(new Error("the command's user cannot be taken on"));
      else resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]);
    });
  });
}

async function ran(child: ChildProcess): Promise<number> {
  const exit = await exitOf(child);
  return exit instanceof Error ? -1 : exit;
}
