import type { ClientRequest, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import * as z from "zod";
import { BenchError } from "../../core/errors.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import type { EngineEndpoint } from "./engine-endpoint.ts";
import { EngineError, unreachable } from "./engine-error.ts";
import { type EngineRequest, ownFailure, openRequest, sendBody } from "./engine-request.ts";

/** API versions that this client speaks. 1.41 is Docker 20.10, the oldest that Debian 12 has. */
const OLDEST_API = "1.41";
const NEWEST_API = "1.51";

const ErrorBody = z.looseObject({ message: z.string() });
const VersionBody = z.looseObject({
  ApiVersion: z.string(),
  MinAPIVersion: z.string().optional(),
});

/**
 * Docker's Engine API over a unix socket or TCP. Throws `EngineError` for what the daemon refuses,
 * `SandboxError` (backend-unavailable) when it cannot be reached, the signal's reason on abort.
 */
export class EngineClient {
  readonly endpoint: EngineEndpoint;
  readonly #version: string;

  private constructor(endpoint: EngineEndpoint, version: string) {
    this.endpoint = endpoint;
    this.#version = version;
  }

  /** Asks the daemon for its API versions and settles on the newest that both speak. */
  static async connect(endpoint: EngineEndpoint): Promise<EngineClient> {
    const unversioned = new EngineClient(endpoint, "");
    const answer = await unversioned.json(VersionBody, "GET", "/version", { timeoutMs: 15_000 });
    const lowest = newer(answer.MinAPIVersion ?? OLDEST_API, OLDEST_API);
    const highest =
      newer(answer.ApiVersion, NEWEST_API) === NEWEST_API ? answer.ApiVersion : NEWEST_API;
    if (newer(lowest, highest) !== highest)
      throw new BenchError(
        "unavailable",
        `docker at ${endpoint.address} speaks API ${answer.MinAPIVersion ?? "?"} to ${answer.ApiVersion}, bench speaks ${OLDEST_API} to ${NEWEST_API}`,
        { next: "install Docker 20.10 or newer" },
      );
    return new EngineClient(endpoint, `/v${highest}`);
  }

  get apiVersion(): string {
    return this.#version.slice(2);
  }

  /** A request whose JSON answer is checked against a schema. */
  async json<Shape>(
    schema: z.ZodType<Shape>,
    method: string,
    path: string,
    options: EngineRequest = {},
  ): Promise<Shape> {
    const response = await this.call(method, path, options);
    const text = await this.#textOf(response);
    const parsed = schema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    throw new SandboxError(
      "backend-unavailable",
      `docker at ${this.endpoint.address} answered ${method} ${path} with ${JSON.stringify(text.slice(0, 200))}: ${z.prettifyError(parsed.error)}`,
    );
  }

  /** A request whose answer's body does not matter. Resolves to the status. */
  async run(method: string, path: string, options: EngineRequest = {}): Promise<number> {
    const response = await this.call(method, path, options);
    await this.#textOf(response);
    return response.statusCode ?? 0;
  }

  /** A request whose answer's body is read by the caller, who must drain or destroy it. */
  async call(method: string, path: string, options: EngineRequest = {}): Promise<IncomingMessage> {
    const { request, response } = this.#open(method, path, options);
    if (options.body === undefined) request.end(encodeJson(options.json));
    else void sendBody(options.body, request);
    return await this.#accepted(await response);
  }

  /** A request that turns its connection into a raw stream both ways (attach, exec). */
  async hijack(path: string, options: EngineRequest = {}): Promise<Duplex> {
    const headers = { connection: "Upgrade", upgrade: "tcp" };
    const opened = this.#open("POST", path, { ...options, headers });
    const upgraded = new Promise<Duplex>((resolve) => {
      opened.request.once("upgrade", (_, socket: Duplex, head: Buffer) => {
        if (head.byteLength > 0) socket.unshift(head);
        // Errors reach whoever reads or writes; without a listener they would end the process.
        socket.on("error", () => undefined);
        resolve(socket);
      });
    });
    opened.request.end(encodeJson(options.json));
    const refused = opened.response.then(async (response): Promise<never> => {
      await this.#accepted(response);
      response.destroy();
      throw new EngineError(response.statusCode ?? 0, `no raw stream for POST ${path}`);
    });
    return await Promise.race([upgraded, refused]);
  }

  #open(
    method: string,
    path: string,
    options: EngineRequest,
  ): { request: ClientRequest; response: Promise<IncomingMessage> } {
    const { signal } = options;
    const request = openRequest(this.endpoint, method, this.#version + path, options);
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve);
      request.on("error", (error) => {
        reject(ownFailure(request, signal) ?? unreachable(this.endpoint.address, error));
      });
    });
    // Whoever awaits the answer sees a failure; a stream that was upgraded has no answer to await.
    response.catch(() => undefined);
    return { request, response };
  }

  async #accepted(response: IncomingMessage): Promise<IncomingMessage> {
    const status = response.statusCode ?? 0;
    if (status < 400) return response;
    const text = await this.#textOf(response);
    const parsed = ErrorBody.safeParse(parseJson(text));
    throw new EngineError(status, (parsed.success ? parsed.data.message : text).trim());
  }

  async #textOf(response: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of response) chunks.push(Buffer.from(chunk));
    } catch (error) {
      throw unreachable(this.endpoint.address, error);
    }
    return Buffer.concat(chunks).toString("utf8");
  }
}

function encodeJson(json: unknown): Buffer | undefined {
  return json === undefined ? undefined : Buffer.from(JSON.stringify(json));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the schema says so to the caller, with the text.
    return undefined;
  }
}

/** The newer of two `major.minor` versions. */
function newer(one: string, other: string): string {
  const [a = 0, b = 0] = one.split(".").map(Number);
  const [c = 0, d = 0] = other.split(".").map(Number);
  return a > c || (a === c && b > d) ? one : other;
}
