import { createServer } from "node:net";
import { once } from "node:events";
import type * as z from "zod";
import type {
  ByteStream,
  Command,
  Completed,
  ForwardedPort,
  NetworkPolicy,
  ProcessMark,
  Sandbox,
  SandboxProcess,
  SandboxStats,
} from "../../core/ports/sandbox.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { forwardServer } from "../forward/forward-server.ts";
import { KeptOutput } from "../kept-output.ts";
import type { ExecdClient } from "./execd-client.ts";
import { Left, Marks, Ran, Stats } from "./wire/calls.ts";

const DEFAULT_OUTPUT_BYTES = 16 * 1024 * 1024;

/** The task's container beside the runner's, spoken to through its execd. */
export class FargateSandbox implements Sandbox {
  readonly id: string;
  readonly isolation: Sandbox["isolation"];
  readonly #client: ExecdClient;
  readonly #ports = new Set<ForwardedPort>();
  #ending: Promise<void> | null = null;

  constructor(id: string, client: ExecdClient, isolation: Sandbox["isolation"]) {
    this.id = id;
    this.#client = client;
    this.isolation = isolation;
  }

  async exec(command: Command): Promise<Completed> {
    command.signal?.throwIfAborted();
    const maxBytes = command.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES;
    const kept = { stdout: new KeptOutput(maxBytes), stderr: new KeptOutput(maxBytes) };
    const call = this.#run(command, command.stdin !== undefined);
    const keep = async (name: "stdout" | "stderr", stream: ByteStream): Promise<void> => {
      for await (const chunk of stream) {
        kept[name].push(chunk);
        command.onOutput?.(name, chunk);
      }
    };
    const reading = Promise.all([keep("stdout", call.data), keep("stderr", call.errors)]);
    const sending = command.stdin === undefined ? null : call.send(command.stdin);
    const abort = (): void => {
      call.cancel();
    };
    command.signal?.addEventListener("abort", abort);
    // A source or a listener that throws ends the command, whose caller gets its error.
    const broken = firstFailure([reading, sending], abort);
    try {
      const { exitCode, timedOut } = Ran.parse(await call.result);
      await reading;
      command.signal?.throwIfAborted();
      broken.rethrow();
      const [stdout, stderr] = [kept.stdout.bytes(), kept.stderr.bytes()];
      const droppedBytes = kept.stdout.droppedBytes + kept.stderr.droppedBytes;
      return { exitCode, timedOut, droppedBytes, stdout, stderr };
    } catch (error) {
      command.signal?.throwIfAborted();
      throw error;
    } finally {
      command.signal?.removeEventListener("abort", abort);
    }
  }

  async spawn(command: Command): Promise<SandboxProcess> {
    command.signal?.throwIfAborted();
    const call = this.#run(command, true);
    const exitCode = call.result.then((result) => Ran.parse(result).exitCode);
    exitCode.catch(() => undefined);
    const abort = (): void => {
      call.cancel();
    };
    command.signal?.addEventListener("abort", abort);
    void exitCode
      .catch(() => undefined)
      .then(() => command.signal?.removeEventListener("abort", abort));
    await Promise.race([call.started, exitCode]);
    if (command.stdin !== undefined) void call.send(command.stdin).catch(abort);
    return {
      stdout: call.data,
      stderr: call.errors,
      write: async (bytes) => {
        await call.write(bytes);
      },
      closeStdin: async () => {
        await call.end();
      },
      kill: async () => {
        call.cancel();
        await exitCode.catch(() => undefined);
      },
      exitCode,
    };
  }

  async put(tar: ByteStream, dir: string): Promise<void> {
    const call = this.#client.call({ method: "put", dir });
    const sending = call.send(tar);
    sending.catch(() => {
      call.cancel();
    });
    await Promise.all([sending, call.result]);
  }

  async *get(path: string): ByteStream & AsyncGenerator<Uint8Array, void, undefined> {
    const call = this.#client.call({ method: "get", path });
    let isRead = false;
    try {
      yield* call.data;
      isRead = true;
    } finally {
      if (!isRead) call.cancel();
    }
    await call.result;
  }

  /** The task's network is one for all its containers, and security groups are all that bounds it. */
  async network(policy: NetworkPolicy): Promise<void> {
    this.#client.assertOpen();
    if (policy !== "public")
      throw new SandboxError("unsupported", "a Fargate task's network cannot be cut");
  }

  /** The loopback of this process is the sandbox's own. */
  async forward(socketPath: string): Promise<ForwardedPort> {
    this.#client.assertOpen();
    const server = createServer({ allowHalfOpen: true });
    server.listen({ host: "127.0.0.1", port: 0, backlog: 256 });
    await once(server, "listening");
    const port = forwardServer(server, socketPath);
    this.#ports.add(port);
    return port;
  }

  async killUser(uid: number): Promise<number> {
    return (await this.#ask({ method: "kill-user", uid }, Left)).left;
  }

  async killSince({ processes, keepers = [] }: ProcessMark): Promise<number> {
    const marks = [...processes];
    return (await this.#ask({ method: "kill-since", marks, keepers: [...keepers] }, Left)).left;
  }

  async mark(): Promise<ProcessMark> {
    return { processes: (await this.#ask({ method: "mark" }, Marks)).marks };
  }

  async stats(): Promise<SandboxStats> {
    return await this.#ask({ method: "stats" }, Stats);
  }

  /** The task ends with its runner, and the state that waits for it has a deadline: there is no lease. */
  async renew(_leaseMs: number): Promise<void> {
    this.#client.assertOpen();
  }

  async destroy(): Promise<void> {
    this.#ending ??= this.#end().catch((error: unknown) => {
      this.#ending = null;
      throw error;
    });
    await this.#ending;
  }

  /** Every process is proven gone, then execd ends, and with it the container. */
  async #end(): Promise<void> {
    await Promise.all([...this.#ports].map((port) => port.close()));
    if (!this.#client.isOpen) return;
    const { left } = await this.#ask({ method: "end" }, Left);
    await this.#client.close();
    if (left > 0) throw new SandboxError("lost", `${String(left)} processes cannot be killed`);
  }

  async #ask<Result>(
    call: Parameters<ExecdClient["call"]>[0],
    shape: z.ZodType<Result>,
  ): Promise<Result> {
    return shape.parse(await this.#client.call(call).result);
  }

  #run(command: Command, hasStdin: boolean) {
    const { argv, uid, cwd, env, timeoutMs = null } = command;
    const call = this.#client.call({
      method: "run",
      argv: [...argv],
      uid,
      cwd,
      env: { ...env },
      timeoutMs,
    });
    if (!hasStdin) void call.end();
    return call;
  }
}

interface Failures {
  /** Throws the first error, if there was one. */
  rethrow(): void;
}

/** Follows work that nobody waits for yet; `onFailure` is called for the first that fails. */
function firstFailure(
  works: readonly (Promise<unknown> | null)[],
  onFailure: () => void,
): Failures {
  const errors: unknown[] = [];
  for (const work of works)
    work?.catch((error: unknown) => {
      errors.push(error);
      onFailure();
    });
  return {
    rethrow: () => {
      if (errors.length > 0) throw errors[0];
    },
  };
}
