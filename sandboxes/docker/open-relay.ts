import type { Duplex } from "node:stream";
import { type ForwardedPort, SandboxError } from "../../core/ports/sandbox.ts";
import { asSandboxError } from "./engine-error.ts";
import type { Helper } from "./helper-containers.ts";
import { RelayOwner } from "./relay-owner.ts";
import { readStdioFrames } from "./stdio-frames.ts";

/** Longest wait for a relay's port: a busy host may take its time to start a container. */
const START_MS = 60_000;

/**
 * Starts a relay helper and serves what it carries. A port needs nothing of the task's image, and
 * nothing in the sandbox sees or reaches what serves it; it works with a daemon anywhere (attack 20).
 */
export async function openRelay(helper: Helper, socketPath: string): Promise<ForwardedPort> {
  let stream: Duplex | null = null;
  try {
    stream = await helper.open();
    const opened = stream;
    const owner = new RelayOwner({ input: opened, output: outputOf(opened) }, socketPath);
    const timer = setTimeout(() => opened.destroy(), START_MS);
    const port = await owner.port.finally(() => clearTimeout(timer));
    let closing: Promise<void> | null = null;
    const close = async (): Promise<void> => {
      owner.close();
      // The relay ends with its stdin; the removal proves it.
      opened.destroy();
      await helper.remove();
    };
    return { port, close: () => (closing ??= close()) };
  } catch (error) {
    stream?.destroy();
    await helper.remove();
    throw asSandboxError(error, "start-failed", "no port can be opened in the sandbox");
  }
}

async function* outputOf(stream: Duplex): AsyncGenerator<Uint8Array> {
  for await (const { stream: name, chunk } of readStdioFrames(stream)) {
    if (name === "stderr") throw new SandboxError("start-failed", "the relay complained");
    yield chunk;
  }
}
