import { type AnyMessage, client, type ClientConnection } from "@agentclientprotocol/sdk";
import { PermissionRequest, readAcpMessage, SessionUpdate } from "../../core/acp/acp-message.ts";
import { choosePermission } from "../../core/acp/choose-permission.ts";
import type { SandboxProcess } from "../../core/ports/sandbox.ts";
import { splitLines } from "./split-lines.ts";

/** Longest line read from an agent: it may hold a picture, not a disk. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;
/** Requests of the agent that may wait for their answers; above, its output is read no further. */
const MAX_OPEN_REQUESTS = 256;

/** Takes what an agent says beside the answers to our requests. Must not throw. */
export interface AcpListener {
  /** A `session/update`, as it came. */
  onUpdate(update: SessionUpdate): void;
  onPermission(): void;
  /** Output that is no message, or one that nobody asked for. */
  onNoise(text: string): void;
}

/** The agent's end of a connection. */
export interface AcpConnection {
  /** Rejects with the agent's error (a `RequestError`), or when the connection has ended. */
  request(method: string, params: object): Promise<unknown>;
  notify(method: string, params: object): Promise<void>;
}

/**
 * Speaks the Agent Client Protocol with a process in a sandbox (spec 10.1), through the protocol's own
 * library. What the agent sends is read by us first: the library has no limits, prints what it does
 * not understand, and drops updates of a kind that it does not know, which are evidence.
 */
export function connectAcp(
  agent: Pick<SandboxProcess, "stdout" | "write">,
  listener: AcpListener,
): AcpConnection {
  const link = new AcpLink(agent, listener);
  const connection = link.open();
  return {
    request: async (method, params) => await connection.agent.request(method, params),
    notify: async (method, params) => await connection.agent.notify(method, params),
  };
}

class AcpLink {
  readonly #agent: Pick<SandboxProcess, "stdout" | "write">;
  readonly #listener: AcpListener;
  /** Ids of our requests that have no answer yet. */
  readonly #asked = new Set<unknown>();
  #openRequests = 0;
  #onRoom: () => void = () => undefined;

  constructor(agent: Pick<SandboxProcess, "stdout" | "write">, listener: AcpListener) {
    this.#agent = agent;
    this.#listener = listener;
  }

  open(): ClientConnection {
    const incoming = this.#read();
    const readable = new ReadableStream<AnyMessage>({
      pull: async (controller) => {
        const { done, value } = await incoming.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => {
        await incoming.return();
      },
    });
    const writable = new WritableStream<AnyMessage>({ write: async (m) => await this.#write(m) });
    return client({ name: "bench" })
      .onRequest("session/request_permission", ({ params }) => {
        const { options } = PermissionRequest.parse(params);
        return { outcome: { outcome: "selected", optionId: choosePermission(options) } };
      })
      .connect({ readable, writable });
  }

  async #write(message: AnyMessage): Promise<void> {
    if ("method" in message && "id" in message) this.#asked.add(message.id);
    else if ("id" in message) {
      this.#openRequests -= 1;
      this.#onRoom();
    }
    await this.#agent.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  }

  /** The messages that the library has to see: answers that were asked for, and requests. */
  async *#read(): AsyncGenerator<AnyMessage, void, undefined> {
    for await (const line of splitLines(this.#agent.stdout, MAX_LINE_BYTES)) {
      if (line.kind === "too-long")
        this.#listener.onNoise(`[a line of ${String(line.sizeBytes)} bytes was dropped]`);
      else yield* this.#messagesOf(line.text);
      while (this.#openRequests >= MAX_OPEN_REQUESTS) await this.#untilRoom();
    }
  }

  *#messagesOf(text: string): Generator<AnyMessage, void, undefined> {
    const read = readAcpMessage(text);
    switch (read.kind) {
      case "noise":
        if (text.trim() !== "") this.#listener.onNoise(text);
        return;
      case "notification":
        this.#notice(read.method, read.params, text);
        return;
      case "answer":
        if (this.#asked.delete(read.message.id)) yield read.message;
        else this.#listener.onNoise(text);
        return;
      case "request":
        this.#openRequests += 1;
        if (read.message.method === "session/request_permission") this.#listener.onPermission();
        yield read.message;
    }
  }

  #notice(method: string, params: unknown, text: string): void {
    if (method !== "session/update") return;
    const update = SessionUpdate.safeParse(params);
    if (update.success) this.#listener.onUpdate(update.data);
    else this.#listener.onNoise(text);
  }

  async #untilRoom(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve;
    });
  }
}
