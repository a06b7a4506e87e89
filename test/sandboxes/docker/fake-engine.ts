import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import type { Duplex } from "node:stream";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineClient } from "../../../sandboxes/docker/engine-client.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
type Upgrade = (request: IncomingMessage, socket: Duplex) => void;

/** An HTTP server on a unix socket that answers as a test says: what a real daemon does only rarely. */
export class FakeEngine {
  readonly socketPath: string;
  /** `METHOD /path` of every request, in order. */
  readonly requests: string[] = [];
  answer: Answer = (_request, response) => {
    response.end();
  };
  upgrade: Upgrade = (_request, socket) => {
    socket.destroy();
  };
  version: Readonly<Record<string, string>> = { ApiVersion: "1.41", MinAPIVersion: "1.12" };
  readonly #folder = mkdtempSync(join(tmpdir(), "fake-engine-"));
  readonly #server: Server;

  private constructor() {
    this.socketPath = join(this.#folder, "docker.sock");
    this.#server = createServer((request, response) => {
      this.requests.push(`${request.method ?? ""} ${request.url ?? ""}`);
      if (request.url === "/version") response.end(JSON.stringify(this.version));
      else this.answer(request, response);
    });
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
      this.requests.push(`${request.method ?? ""} ${request.url ?? ""}`);
      this.upgrade(request, socket);
    });
  }

  static async start(): Promise<FakeEngine> {
    const fake = new FakeEngine();
    await new Promise<void>((resolve) => {
      fake.#server.listen(fake.socketPath, resolve);
    });
    return fake;
  }

  get address(): string {
    return `unix://${this.socketPath}`;
  }

  async client(): Promise<EngineClient> {
    const { address, socketPath } = this;
    return await EngineClient.connect({ kind: "unix", socketPath, address });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
    rmSync(this.#folder, { recursive: true });
  }
}

/** One frame of the daemon's raw stream. */
export function frame(stream: "stdout" | "stderr", text: string | Uint8Array): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(8);
  head[0] = stream === "stdout" ? 1 : 2;
  head.writeUInt32BE(body.byteLength, 4);
  return Buffer.concat([head, body]);
}
