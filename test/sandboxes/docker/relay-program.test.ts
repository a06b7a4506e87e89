import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { relayProgram } from "../../../sandboxes/docker/helper-program.ts";
import { RelayOwner } from "../../../sandboxes/docker/relay-owner.ts";

const EMULATOR = "/usr/bin/qemu-aarch64-static";
const OWN = process.arch === "arm64" ? "linux/arm64" : "linux/amd64";
/** Ways to run each platform's program here: natively, or emulated where that is at hand. */
const MACHINES = ["linux/amd64", "linux/arm64"].flatMap((platform) => {
  if (process.platform !== "linux") return [];
  if (platform === OWN) return [{ platform, runner: [] as string[] }];
  return platform === "linux/arm64" && existsSync(EMULATOR)
    ? [{ platform, runner: [EMULATOR] }]
    : [];
});

describe.each(MACHINES)("the relay's program for $platform", ({ platform, runner }) => {
  let dir: string;
  let child: ChildProcess;
  let port: number;
  let serve: (socket: Socket) => void;
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    serve(socket);
  });

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "bench-relay-"));
    serve = (socket) => socket.pipe(socket);
    server.listen(join(dir, "s"));
    await once(server, "listening");
    await writeFile(join(dir, "program"), relayProgram(platform));
    await chmod(join(dir, "program"), 0o755);
    const [program, ...args] = [...runner, join(dir, "program")];
    const started = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    child = started;
    const relay = { input: started.stdin, output: started.stdout };
    port = await new RelayOwner(relay, join(dir, "s")).port;
  });

  afterEach(async () => {
    child.kill("SIGKILL");
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await new Promise((resolve) => {
      server.close(resolve);
    });
    await rm(dir, { recursive: true });
  });

  const dial = async (): Promise<Socket> => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    sockets.add(socket);
    return socket;
  };

  test("carries 24 MB both ways at once, to the end of each", async () => {
    const sent = createHash("sha256");
    const received = createHash("sha256");
    const socket = await dial();
    const reading = (async () => {
      for await (const chunk of socket) received.update(chunk as Buffer);
    })();
    for (let piece = 0; piece < 240; piece += 1) {
      const bytes = randomBytes(100_000);
      sent.update(bytes);
      if (!socket.write(bytes)) await once(socket, "drain");
    }
    socket.end();
    await reading;
    expect(received.digest("hex")).toBe(sent.digest("hex"));
  });

  test("keeps one direction open when the other has ended, whoever ends first", async () => {
    const heard: string[] = [];
    serve = (socket) => {
      socket.end("bye");
      socket.on("data", (chunk) => heard.push(chunk.toString()));
      socket.on("end", () => heard.push("|"));
    };
    const socket = await dial();
    const [word] = (await once(socket, "data")) as [Buffer];
    expect(word.toString()).toBe("bye");
    await sleep(50);
    socket.end("late");
    await expect.poll(() => heard.join("")).toBe("late|");
  });

  test("holds a writer whose reader is slow, and lets the others through", async () => {
    let isFirst = true;
    const slow: Socket[] = [];
    serve = (socket) => {
      if (!isFirst) return void socket.pipe(socket);
      isFirst = false;
      slow.push(socket.pause());
    };
    const held = await dial();
    let taken = 0;
    const piece = Buffer.alloc(50_000, "x");
    for (let writes = 0; writes < 400; writes += 1)
      held.write(piece, () => {
        taken += piece.length;
      });
    await sleep(300);
    expect(taken).toBeLessThan(12_000_000);
    const other = await dial();
    other.end("through");
    const [answer] = (await once(other, "data")) as [Buffer];
    expect(answer.toString()).toBe("through");
    held.end();
    let sizeBytes = 0;
    for await (const chunk of slow[0] ?? []) sizeBytes += (chunk as Buffer).length;
    expect(sizeBytes).toBe(20_000_000);
  });

  test("sends no more than a window to a client that does not read, and all of it later", async () => {
    serve = (socket) => socket.end(Buffer.alloc(20_000_000, "y"));
    const socket = await dial();
    await sleep(300);
    let sizeBytes = 0;
    for await (const chunk of socket) sizeBytes += (chunk as Buffer).length;
    expect(sizeBytes).toBe(20_000_000);
    expect(child.exitCode).toBeNull();
  });

  test("takes many connections, one after the other and at once, and forgets each", async () => {
    for (let round = 0; round < 3; round += 1) {
      const all = await Promise.all(Array.from({ length: 150 }, dial));
      const answers = all.map(async (socket, index) => {
        socket.end(`word ${String(index)}`);
        let text = "";
        for await (const chunk of socket) text += String(chunk);
        return text;
      });
      expect(await Promise.all(answers)).toEqual(all.map((_, index) => `word ${String(index)}`));
    }
  });

  test("cuts what nobody serves, and what breaks on either side", async () => {
    let broke = false;
    serve = (socket) => socket.resume().on("end", () => (broke = true));
    const leaving = await dial();
    await sleep(50);
    leaving.resetAndDestroy();
    await expect.poll(() => broke).toBe(true);
    await rm(join(dir, "s"));
    const refused = await dial();
    // A reset, and no end that could pass for an answer's.
    await expect.poll(() => refused.errored?.message).toContain("ECONNRESET");
  });

  test("ends when its owner does, and refuses what no owner says", async () => {
    const socket = await dial();
    const over = once(socket, "end").catch(() => undefined);
    child.stdin?.write(Buffer.from("ff000000ffffffffffffffff", "hex"));
    expect(await once(child, "exit")).toEqual([2, null]);
    await over;
  });

  test("ends with its stdin, and its port with it", async () => {
    child.stdin?.end();
    expect(await once(child, "exit")).toEqual([0, null]);
    const late = connect({ port, host: "127.0.0.1" });
    const [error] = (await once(late, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNREFUSED");
  });
});
