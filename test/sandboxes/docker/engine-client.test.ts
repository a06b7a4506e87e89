import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { EngineError } from "../../../sandboxes/docker/engine-error.ts";
import { readEvents } from "../../../sandboxes/docker/event-lines.ts";
import { pullImage } from "../../../sandboxes/docker/pull-image.ts";
import { removeContainer } from "../../../sandboxes/docker/remove-container.ts";
import { readStdioFrames } from "../../../sandboxes/docker/stdio-frames.ts";
import { FakeEngine, frame } from "./fake-engine.ts";

let fake: FakeEngine;

beforeEach(async () => {
  fake = await FakeEngine.start();
});

afterEach(async () => {
  await fake.stop();
});

test("the newest API version that both sides speak is used", async () => {
  for (const [theirs, ours] of [
    ["1.41", "1.41"],
    ["1.47", "1.47"],
    ["1.99", "1.51"],
    ["2.0", "1.51"],
  ]) {
    fake.version = { ApiVersion: theirs ?? "", MinAPIVersion: "1.24" };
    const client = await fake.client();
    await client.run("GET", "/info");
    expect(fake.requests.at(-1)).toBe(`GET /v${ours}/info`);
  }
});

test("a daemon too old or too new to be spoken to is refused with both ranges", async () => {
  fake.version = { ApiVersion: "1.40", MinAPIVersion: "1.12" };
  await expect(fake.client()).rejects.toMatchObject({
    name: "BenchError",
    message: expect.stringContaining("speaks API 1.12 to 1.40, bench speaks 1.41 to 1.51"),
  });
  fake.version = { ApiVersion: "1.60", MinAPIVersion: "1.52" };
  await expect(fake.client()).rejects.toMatchObject({ kind: "unavailable" });
});

test("no daemon: the error names the address, and what to do instead", async () => {
  const env = { DOCKER_HOST: "unix:///nonexistent/docker.sock" };
  await expect(DockerSandboxes.connect({ env })).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("unix:///nonexistent/docker.sock"),
    next: "bench run TASKS --env local",
  });
  const nextWithoutDaemon = "bench run examples/tasks -a oracle --env local";
  await expect(DockerSandboxes.connect({ env, nextWithoutDaemon })).rejects.toMatchObject({
    next: nextWithoutDaemon,
  });
});

test("what the daemon refuses keeps its status and its words", async () => {
  const client = await fake.client();
  fake.answer = (_, response) => {
    response.statusCode = 409;
    response.end(JSON.stringify({ message: "container is not running" }));
  };
  const refusal = await client.run("POST", "/x").catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(EngineError);
  expect(refusal).toMatchObject({ status: 409, message: "container is not running" });
  fake.answer = (_, response) => {
    response.statusCode = 502;
    response.end("<html>proxy</html>");
  };
  await expect(client.run("POST", "/x")).rejects.toMatchObject({ message: "<html>proxy</html>" });
});

test("an answer that is not what the API promises is an error, not undefined data", async () => {
  const client = await fake.client();
  fake.answer = (_, response) => {
    response.end(JSON.stringify({ Id: 5 }));
  };
  const call = client.json(z.looseObject({ Id: z.string() }), "GET", "/x");
  await expect(call).rejects.toMatchObject({ failure: "backend-unavailable" });
});

test("a daemon that hangs up, before or in the middle of its answer, is unavailable", async () => {
  const client = await fake.client();
  fake.answer = (request) => request.socket.destroy();
  await expect(client.run("GET", "/x")).rejects.toMatchObject({ failure: "backend-unavailable" });
  fake.answer = (request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half");
    setTimeout(() => request.socket.destroy(), 20);
  };
  await expect(client.run("GET", "/x")).rejects.toMatchObject({ failure: "backend-unavailable" });
});

test("a daemon that does not answer is given up after the time set, an aborted call at once", async () => {
  const client = await fake.client();
  fake.answer = () => undefined;
  await expect(client.run("GET", "/x", { timeoutMs: 50 })).rejects.toMatchObject({
    failure: "backend-unavailable",
    message: expect.stringContaining("no answer within 0.05 s"),
  });
  const reason = new Error("stopped");
  const controller = new AbortController();
  const call = client.run("GET", "/x", { signal: controller.signal });
  controller.abort(reason);
  await expect(call).rejects.toBe(reason);
  await expect(client.run("GET", "/x", { signal: controller.signal })).rejects.toBe(reason);
});

test("a body whose source fails is that source's error, and the daemon gets no whole body", async () => {
  const client = await fake.client();
  let ended = false;
  fake.answer = (request) => {
    request.resume();
    request.on("end", () => (ended = true));
  };
  await expect(client.run("PUT", "/x", { body: broken() })).rejects.toThrow("source broke");
  expect(ended).toBe(false);
});

test("a raw stream runs both ways, half-closed, with the bytes that came with its head", async () => {
  const client = await fake.client();
  fake.upgrade = (_, socket) => {
    const head = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";
    socket.write(Buffer.concat([Buffer.from(head), frame("stdout", "first ")]));
    const received: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => received.push(chunk));
    socket.on("end", () => {
      socket.end(frame("stderr", Buffer.concat(received)));
    });
  };
  const socket = await client.hijack("/exec/1/start");
  socket.end("to the daemon");
  const seen: string[] = [];
  for await (const { stream, chunk } of readStdioFrames(socket))
    seen.push(`${stream} ${Buffer.from(chunk).toString("utf8")}`);
  expect(seen).toEqual(["stdout first ", "stderr to the daemon"]);
});

test("a raw stream that is refused says why", async () => {
  const client = await fake.client();
  fake.upgrade = (_, socket) => {
    const body = JSON.stringify({ message: "No such exec instance" });
    socket.end(`HTTP/1.1 404 Not Found\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`);
  };
  await expect(client.hijack("/exec/1/start")).rejects.toMatchObject({
    status: 404,
    message: "No such exec instance",
  });
});

test("a slow reader of a raw stream holds the daemon back", async () => {
  const client = await fake.client();
  let written = 0;
  fake.upgrade = (_, socket) => {
    socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    const chunk = frame("stdout", Buffer.alloc(64 * 1024));
    const pour = async (): Promise<void> => {
      for (written = 0; written < 200; written += 1)
        if (!socket.write(chunk)) await once(socket, "drain");
      socket.end();
    };
    pour().catch(() => undefined);
  };
  const frames = readStdioFrames(await client.hijack("/attach"));
  await frames.next();
  await new Promise((resolve) => {
    setTimeout(resolve, 200);
  });
  expect(written).toBeLessThan(100);
  let sizeBytes = 0;
  for await (const { chunk } of frames) sizeBytes += chunk.byteLength;
  expect(written).toBe(200);
  expect(sizeBytes).toBeGreaterThan(199 * 64 * 1024 - 64 * 1024);
});

test("an error event under status 200 fails the pull", async () => {
  const client = await fake.client();
  fake.answer = (_, response) => {
    response.write(
      '{"status":"Pulling from x"}\r\n{"status":"Downloading","progressDetail":{}}\r\n',
    );
    response.end('{"errorDetail":{"message":"toomanyrequests"},"error":"toomanyrequests"}\r\n');
  };
  const lines: string[] = [];
  const pull = pullImage(client, "registry.invalid:5000/a/b:1", {
    configDir: "/nonexistent",
    platform: "linux/amd64",
    signal: new AbortController().signal,
    onLine: (line) => lines.push(line),
  });
  await expect(pull).rejects.toMatchObject({
    failure: "image-missing",
    message: expect.stringContaining("toomanyrequests"),
  });
  expect(lines).toEqual(["Pulling from x"]);
  expect(fake.requests.at(-1)).toContain("fromImage=registry.invalid%3A5000%2Fa%2Fb&tag=1");
});

test("a removal that someone else has begun is waited for until the container is gone", async () => {
  const client = await fake.client();
  let looks = 0;
  fake.answer = (request, response) => {
    if (request.method === "GET") looks += 1;
    response.statusCode = request.method === "DELETE" ? 409 : looks < 3 ? 200 : 404;
    response.end(JSON.stringify({ message: "removal in progress" }));
  };
  await removeContainer(client, "abc");
  expect(looks).toBe(3);
});

test("events arrive whole wherever the transport cuts them, and rubbish is an error", async () => {
  const text = '{"stream":"a\\n"}\r\n{"stream":"ü€"}\n\n{"error":"x"}';
  const bytes = Buffer.from(text);
  for (let cut = 0; cut <= bytes.byteLength; cut += 1) {
    const events: unknown[] = [];
    for await (const event of readEvents(chunks(bytes.subarray(0, cut), bytes.subarray(cut))))
      events.push(event);
    expect(events).toEqual([{ stream: "a\n" }, { stream: "ü€" }, { error: "x" }]);
  }
  await expect(rubbish()).rejects.toThrow("an event that is not one");
});

async function* chunks(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield await Promise.resolve(part);
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("x");
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
  throw new Error("source broke");
}

async function rubbish(): Promise<void> {
  for await (const event of readEvents(chunks(Buffer.from("<html>\n")))) void event;
}
