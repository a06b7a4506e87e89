import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import { assertExit, collect, commandOf, isRunning, perl, shell, text } from "./run-in-sandbox.ts";
import type { SandboxPromise } from "./sandbox-promise.ts";

const FIFTY_MB = 50_000_000;

/** What `exec` and `spawn` promise about the bytes that go in and come out. */
export const streamPromises: readonly SandboxPromise[] = [
  {
    promise: "50 MB go through a command's stdin and stdout intact",
    check: async ({ sharedSandbox }) => {
      const sent = createHash("sha256");
      const received = createHash("sha256");
      let receivedBytes = 0;
      const done = await (
        await sharedSandbox()
      ).exec(
        commandOf(["cat"], {
          stdin: hashing(pseudoRandomBytes(FIFTY_MB), sent),
          maxOutputBytes: 1000,
          onOutput: (stream, chunk) => {
            assert.equal(stream, "stdout");
            received.update(chunk);
            receivedBytes += chunk.byteLength;
          },
        }),
      );
      assertExit(done, 0);
      assert.equal(receivedBytes, FIFTY_MB);
      assert.equal(received.digest("hex"), sent.digest("hex"));
      assert.equal(done.droppedBytes, FIFTY_MB - 1000);
    },
  },
  {
    promise: "output beyond the cap keeps its first and its last half and counts what it dropped",
    check: async ({ sharedSandbox }) => {
      const seen = { stdout: 0, stderr: 0 };
      const done = await (
        await sharedSandbox()
      ).exec(
        commandOf(
          perl('print "a" x 5000, "b" x 90000, "c" x 5000; print STDERR "d" x 1000, "e" x 1000;'),
          {
            maxOutputBytes: 100,
            onOutput: (stream, chunk) => {
              seen[stream] += chunk.byteLength;
            },
          },
        ),
      );
      assertExit(done, 0);
      assert.equal(text(done.stdout), "a".repeat(50) + "c".repeat(50));
      assert.equal(text(done.stderr), "d".repeat(50) + "e".repeat(50));
      assert.equal(done.droppedBytes, 100_000 - 100 + 2000 - 100);
      assert.deepEqual(seen, { stdout: 100_000, stderr: 2000 });
    },
  },
  {
    promise: "output of exactly the cap is kept whole",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      for (const maxOutputBytes of [100, 101]) {
        const bytes = "0123456789".repeat(10) + (maxOutputBytes === 101 ? "!" : "");
        const done = await sandbox.exec(commandOf(["printf", "%s", bytes], { maxOutputBytes }));
        assert.equal(text(done.stdout), bytes);
        assert.equal(done.droppedBytes, 0);
      }
    },
  },
  {
    promise: "a command that ends without reading its stdin ends well",
    check: async ({ sharedSandbox }) => {
      const done = await (
        await sharedSandbox()
      ).exec(shell("exit 3", { stdin: pseudoRandomBytes(2_000_000) }));
      assertExit(done, 3);
    },
  },
  {
    promise: "a source that never ends does not hold a command that has ended",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      const done = await sandbox.exec(
        shell("read -r line; exit 4", { stdin: oneLineAndSilence() }),
      );
      assertExit(done, 4);
      const broken = sandbox.exec(shell("cat > /dev/null", { stdin: brokenAfterALine() }));
      await assert.rejects(broken, /source broke/u);
    },
  },
  {
    promise: "a spawned process speaks a line protocol both ways, and sees the end of its stdin",
    check: async ({ sharedSandbox }) => {
      const process = await (
        await sharedSandbox()
      ).spawn(
        shell(
          'while IFS= read -r line; do echo "got $line"; done; echo "end of input"; echo late >&2; exit 5',
        ),
      );
      const lines = linesOf(process.stdout);
      for (const word of ["one", "two", "drei €", "x".repeat(100_000)]) {
        await process.write(new TextEncoder().encode(`${word}\n`));
        assert.equal((await lines.next()).value, `got ${word}`);
      }
      await process.closeStdin();
      assert.equal((await lines.next()).value, "end of input");
      assert.equal((await lines.next()).done, true);
      assert.equal(await process.exitCode, 5);
      assert.equal(text(await collect(process.stderr)), "late\n");
    },
  },
  {
    promise: "a slow reader loses nothing of a spawned process's output",
    check: async ({ sharedSandbox }) => {
      const process = await (
        await sharedSandbox()
      ).spawn(commandOf(perl('for my $n (1 .. 2000) { print $n % 10 x 10000, "\\n"; }')));
      await process.closeStdin();
      await pause(300);
      let sizeBytes = 0;
      for await (const chunk of process.stdout) {
        sizeBytes += chunk.byteLength;
        if (sizeBytes < 2_000_000) await pause(5);
      }
      assert.equal(await process.exitCode, 0);
      assert.equal(sizeBytes, 2000 * 10_001);
    },
  },
  {
    promise: "killing a spawned process ends it and what it started",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      const process = await sandbox.spawn(
        shell("trap '' TERM; setsid sleep 4712.5 & echo up; while :; do sleep 4712.5; done"),
      );
      assert.equal((await linesOf(process.stdout).next()).value, "up");
      await process.kill();
      assert.equal(await process.exitCode, 137);
      assert.equal(await isRunning(sandbox, "sleep 4712.5"), false);
    },
  },
  {
    promise: "writing to a process that has ended settles and crashes nothing",
    check: async ({ sharedSandbox }) => {
      const process = await (await sharedSandbox()).spawn(shell("exit 0"));
      assert.equal(await process.exitCode, 0);
      const outcomes = await Promise.allSettled([
        process.write(new Uint8Array(1_000_000)),
        process.closeStdin(),
        process.kill(),
      ]);
      assert.equal(outcomes.length, 3);
    },
  },
];

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Bytes that do not repeat within a chunk (a linear congruential generator), in odd chunk sizes. */
async function* pseudoRandomBytes(sizeBytes: number): ByteStream & AsyncGenerator<Uint8Array> {
  let state = 12_345;
  for (let left = sizeBytes; left > 0;) {
    const chunk = new Uint8Array(Math.min(left, 65_537));
    for (let index = 0; index < chunk.byteLength; index += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      chunk[index] = state >> 16;
    }
    left -= chunk.byteLength;
    yield chunk;
  }
}

async function* oneLineAndSilence(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("line\n");
  await new Promise(() => undefined);
}

async function* brokenAfterALine(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("line\n");
  throw new Error("source broke");
}

async function* hashing(
  stream: AsyncIterable<Uint8Array>,
  hash: { update(chunk: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    hash.update(chunk);
    yield chunk;
  }
}

async function* linesOf(stream: ByteStream): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  if (rest !== "") yield rest;
}
