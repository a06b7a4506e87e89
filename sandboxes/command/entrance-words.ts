import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";

/** A word is short; whoever replaced the sandbox's shell may write anything. */
const MAX_LENGTH = 64;
const LATE_MS = 1000;

/** What a command's entrance says on descriptor 3 about how far it came. */
export class EntranceWords {
  readonly #first: Promise<string>;

  constructor(child: ChildProcess) {
    const stream = child.stdio[3];
    this.#first = stream instanceof Socket ? firstWord(child, stream) : Promise.resolve("");
  }

  /** `go` or `cwd` as soon as it is said; empty when the entrance ended before. */
  async first(): Promise<string> {
    return await this.#first;
  }
}

async function firstWord(child: ChildProcess, stream: Socket): Promise<string> {
  let words = "";
  const word = await new Promise<string>((resolve) => {
    stream.on("data", (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(0, MAX_LENGTH);
      if (words.includes("\n")) resolve(words);
    });
    stream.on("error", () => undefined);
    stream.once("close", () => {
      resolve(words);
    });
    child.once("error", () => {
      resolve(words);
    });
    child.once("exit", () => {
      // The end of the stream follows, unless something inside kept the descriptor.
      setTimeout(() => {
        resolve(words);
      }, LATE_MS).unref();
    });
  });
  stream.destroy();
  return word;
}
