import { type IncomingMessage, request } from "node:http";

/** The Engine API with nothing of ours between: what tests compare with, and how they look for themselves. */
export class RawEngine {
  readonly #host: string;

  constructor(host: string) {
    this.#host = host;
  }

  async list(path: string): Promise<unknown[]> {
    const answer = await this.call("GET", path);
    return Array.isArray(answer) ? answer : [];
  }

  /** Resolves to the parsed answer; rejects with `status message` for an error status. */
  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await this.open(method, path, body);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString("utf8");
    if ((response.statusCode ?? 0) >= 400)
      throw new Error(`${String(response.statusCode)} ${text}`);
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  open(method: string, path: string, body?: unknown): Promise<IncomingMessage> {
    const isBytes = body instanceof Uint8Array;
    const data =
      body === undefined ? undefined : isBytes ? body : Buffer.from(JSON.stringify(body));
    const url = new URL(this.#host.replace(/^unix:/u, "file:").replace(/^tcp:/u, "http:"));
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          ...(this.#host.startsWith("unix:")
            ? { socketPath: url.pathname }
            : { host: url.hostname, port: url.port }),
          method,
          path,
          headers:
            data === undefined
              ? {}
              : { "content-type": isBytes ? "application/x-tar" : "application/json" },
        },
        resolve,
      );
      sent.on("error", reject);
      sent.end(data);
    });
  }
}
