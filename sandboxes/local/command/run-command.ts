import { timerMs } from "../../../core/model/timer-limit.ts";
import type {
  ByteStream,
  Command,
  Completed,
  SandboxProcess,
} from "../../../core/ports/sandbox.ts";
import type { InputPipe } from "../../command/input-pipe.ts";
import { KeptOutput } from "../../kept-output.ts";
import { type CommandHost, type StartedCommand, startCommand } from "./start-command.ts";

/** Bytes kept of each stream when the command does not say. */
const DEFAULT_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Runs a command to its end, its deadline or its abort. */
export async function runCommand(command: Command, host: CommandHost): Promise<Completed> {
  command.signal?.throwIfAborted();
  const started = await startCommand(command, host);
  const maxBytes = command.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES;
  const stdout = new KeptOutput(maxBytes);
  const stderr = new KeptOutput(maxBytes);
  const keep = async (name: "stdout" | "stderr", kept: KeptOutput): Promise<void> => {
    for await (const chunk of started[name]) {
      kept.push(chunk);
      command.onOutput?.(name, chunk);
    }
  };
  const stop = watchForStop(command, started);
  try {
    const reading = Promise.all([keep("stdout", stdout), keep("stderr", stderr)]);
    // A listener that throws ends the command; the other promises are waited for below.
    reading.catch(() => void started.kill());
    const feeding = feed(started.stdin, command.stdin);
    feeding.catch(() => void started.kill());
    const exitCode = await started.exitCode.catch(async (error: unknown) => {
      await stop.settled();
      command.signal?.throwIfAborted();
      throw error;
    });
    started.stdin.close();
    await Promise.all([reading, feeding]);
    const timedOut = await stop.settled();
    command.signal?.throwIfAborted();
    return {
      exitCode,
      stdout: stdout.bytes(),
      stderr: stderr.bytes(),
      droppedBytes: stdout.droppedBytes + stderr.droppedBytes,
      timedOut,
    };
  } finally {
    stop.cancel();
    started.release();
  }
}

/** Starts a command and hands its streams over; its deadline and its signal kill it. */
export async function spawnCommand(command: Command, host: CommandHost): Promise<SandboxProcess> {
  command.signal?.throwIfAborted();
  const started = await startCommand(command, host);
  const stop = watchForStop(command, started);
  const feeding =
    command.stdin === undefined ? Promise.resolve() : feed(started.stdin, command.stdin);
  feeding.catch(() => void started.kill());
  const exitCode = started.exitCode
    .finally(() => {
      stop.cancel();
      started.stdin.close();
    })
    .then(async (code) => {
      await feeding;
      return code;
    });
  exitCode.catch(() => undefined);
  void Promise.all([started.stdout.closed, started.stderr.closed]).finally(() => {
    started.release();
  });
  return {
    stdout: started.stdout,
    stderr: started.stderr,
    write: async (bytes) => {
      await started.stdin.write(bytes);
    },
    closeStdin: async () => {
      await started.stdin.end();
    },
    kill: async () => {
      await started.kill();
      await exitCode.catch(() => undefined);
    },
    exitCode,
  };
}

/** Writes a stream to the command's stdin as fast as it reads, and ends it; stops when nobody reads. */
async function feed(stdin: InputPipe, stream: ByteStream | undefined): Promise<void> {
  if (stream === undefined) return await stdin.end();
  const iterator = stream[Symbol.asyncIterator]();
  for (;;) {
    // A source may have nothing more to say for ever: the command's end is waited for at the same time.
    const next = await Promise.race([iterator.next(), stdin.closed]);
    if (next === undefined || next.done === true) break;
    await stdin.write(next.value);
  }
  await stdin.end();
}

interface StopWatch {
  /** Waits for a kill that is under way; whether it was the deadline's. */
  settled(): Promise<boolean>;
  cancel(): void;
}

function watchForStop(command: Command, started: StartedCommand): StopWatch {
  let timedOut = false;
  let killing: Promise<void> = Promise.resolve();
  const onAbort = (): void => {
    killing = started.kill();
  };
  const timer =
    command.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          timedOut = true;
          killing = started.kill();
        }, timerMs(command.timeoutMs));
  command.signal?.addEventListener("abort", onAbort, { once: true });
  return {
    settled: async () => {
      await killing;
      return timedOut;
    },
    cancel: () => {
      clearTimeout(timer);
      command.signal?.removeEventListener("abort", onAbort);
    },
  };
}
