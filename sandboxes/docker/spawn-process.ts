import { timerMs } from "../../core/model/timer-limit.ts";
import type { ByteStream, Command, SandboxProcess } from "../../core/ports/sandbox.ts";
import { ByteQueue } from "./byte-queue.ts";
import type { CommandHost } from "./run-command.ts";

/**
 * Starts a process whose stdin and stdout stay open. Both output streams come over one connection:
 * a reader that leaves one of them unread long enough holds back the other one too.
 */
export async function spawnProcess(host: CommandHost, command: Command): Promise<SandboxProcess> {
  command.signal?.throwIfAborted();
  const { session, older } = await host.start(command, true);
  const stdout = new ByteQueue();
  const stderr = new ByteQueue();
  const first = new TextCollector();
  const pump = async (): Promise<number> => {
    try {
      for await (const { stream, chunk } of session.frames()) {
        first.add(chunk);
        command.onOutput?.(stream, chunk);
        await (stream === "stdout" ? stdout : stderr).push(Uint8Array.from(chunk));
      }
      await host.assertAlive();
      const code = await session.exitCode(command, () => first.text);
      if (code === 137) await host.assertAlive();
      return code;
    } finally {
      stdout.end();
      stderr.end();
    }
  };
  const exitCode = pump();
  let hasEnded = false;
  const markEnded = (): void => {
    hasEnded = true;
  };
  exitCode.then(markEnded, markEnded);
  const kill = async (): Promise<void> => {
    // The pid of a process that has ended may be someone else's by now.
    if (hasEnded) return;
    stdout.stopHolding();
    stderr.stopHolding();
    const root = await session.pid();
    if (root === null) return;
    if (!hasEnded)
      await host.end({
        kind: "tree",
        uid: command.uid,
        root,
        older,
        otherRoots: host.otherRoots(root),
      });
  };
  endOnLimit(command, exitCode, kill);
  return {
    stdout: bytesOf(stdout),
    stderr: bytesOf(stderr),
    write: async (bytes) => {
      await session.write(bytes);
    },
    closeStdin: () => {
      session.closeStdin();
      return Promise.resolve();
    },
    kill,
    exitCode,
  };
}

/** A deadline or an abort kills the process; its `exitCode` tells. */
function endOnLimit(
  { signal, timeoutMs }: Command,
  exitCode: Promise<number>,
  kill: () => Promise<void>,
): void {
  const end = (): void => {
    // A sandbox that is lost meanwhile has no process left to kill; `exitCode` rejects then.
    kill().catch(() => undefined);
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, timerMs(timeoutMs));
  signal?.addEventListener("abort", end);
  const release = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  };
  exitCode.then(release, release);
}

async function* bytesOf(queue: ByteQueue): ByteStream & AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = await queue.shift(); chunk !== null; chunk = await queue.shift()) yield chunk;
  } finally {
    queue.stopHolding();
  }
}

/** The first bytes of the output, for the error of a process that did not start. */
class TextCollector {
  text = "";

  add(chunk: Uint8Array): void {
    if (this.text.length < 500) this.text += Buffer.from(chunk).toString("latin1");
  }
}
