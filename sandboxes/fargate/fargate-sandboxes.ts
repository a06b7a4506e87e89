import type {
  ImageRequest,
  PreparedImage,
  Sandbox,
  SandboxBackend,
  SandboxRecord,
  SandboxRequest,
} from "../../core/ports/sandbox.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { ExecdClient } from "./execd-client.ts";
import { FARGATE_CAPS } from "./fargate-caps.ts";
import { FargateSandbox } from "./fargate-sandbox.ts";
import { Description } from "./wire/calls.ts";

export interface FargateTask {
  /** Of the ECS task, which is the sandbox: it ends when its runner does. */
  readonly id: string;
  readonly socketPath: string;
  /** As the task definition names it. */
  readonly image: string;
  readonly imageDigest: string | null;
  /** Of the image's configuration, which execd cannot see: its own entry point and user stand there. */
  readonly user: string;
  readonly entrypoint: readonly string[];
}

/** The image is pulled and the container started by the platform, before its runner asks. */
const CONNECT_LIMIT_MS = 120_000;
/** Fargate's containers run under the platform's own filter, which it does not name. */
const SECCOMP = "platform";

/**
 * The one sandbox of a runner on Fargate: the task's container beside it. It was made with the runner,
 * and is found by its socket, so that nothing here can make, list or remove another one.
 */
export class FargateSandboxes implements SandboxBackend {
  readonly name = "fargate";
  readonly caps = FARGATE_CAPS;
  readonly #task: FargateTask;
  #client: ExecdClient | null = null;
  #isUsed = false;

  constructor(task: FargateTask) {
    this.#task = task;
  }

  async prepare({ signal }: ImageRequest): Promise<PreparedImage> {
    const { socketPath, image, imageDigest, user, entrypoint } = this.#task;
    this.#client ??= await ExecdClient.connect(socketPath, CONNECT_LIMIT_MS, signal);
    const facts = Description.parse(await this.#client.call({ method: "describe" }).result);
    const { workdir, env } = facts;
    return { id: image, digest: imageDigest, workdir, env, user, entrypoint, builtHere: false };
  }

  async create(request: SandboxRequest): Promise<Sandbox> {
    request.signal.throwIfAborted();
    if (request.network !== "public")
      throw new SandboxError("unsupported", "a Fargate task's network cannot be cut");
    if ((request.mounts ?? []).length > 0)
      throw new SandboxError("unsupported", "no folder can be mounted into a Fargate task");
    if (this.#client === null || this.#isUsed)
      throw new SandboxError("unsupported", "a Fargate task holds one sandbox");
    this.#isUsed = true;
    const { id, image, imageDigest } = this.#task;
    const notes = ["reaches whatever its security group allows"];
    return new FargateSandbox(id, this.#client, { image, imageDigest, seccomp: SECCOMP, notes });
  }

  async list(): Promise<readonly SandboxRecord[]> {
    return [];
  }

  async remove(id: string): Promise<void> {
    if (id === this.#task.id) await this.close();
  }

  async removeImages(): Promise<readonly string[]> {
    return [];
  }

  /** execd ends with its connection, and with it the task's container. */
  async close(): Promise<void> {
    await this.#client?.close();
  }
}
