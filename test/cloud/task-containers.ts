import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import * as z from "zod";
import type { PreparedImage, SandboxBackend, SandboxRequest } from "../../core/ports/sandbox.ts";
import { EngineClient } from "../../sandboxes/docker/engine-client.ts";
import { resolveEndpoint } from "../../sandboxes/docker/engine-endpoint.ts";
import { ExecdClient } from "../../sandboxes/fargate/execd-client.ts";
import { FARGATE_CAPS } from "../../sandboxes/fargate/fargate-caps.ts";
import { FargateSandbox } from "../../sandboxes/fargate/fargate-sandbox.ts";
import {
  entryPointOf,
  KIT_DIR,
  SOCKET_DIR,
  socketPathOf,
  writeKit,
} from "../../sandboxes/fargate/kit.ts";
import { dockerHost } from "../setup/docker-host.ts";

const Created = z.object({ Id: z.string() });

/**
 * Task containers as Fargate starts them beside a runner, this process being the runner: the kit read-only,
 * the socket's folder shared, one network for both.
 */
export class TaskContainers implements SandboxBackend {
  readonly name = "fargate";
  readonly caps = FARGATE_CAPS;
  readonly #client: EngineClient;
  readonly #kitDir: string;
  readonly #made = new Map<string, string>();

  private constructor(client: EngineClient, kitDir: string) {
    this.#client = client;
    this.#kitDir = kitDir;
  }

  static async open(): Promise<TaskContainers> {
    const client = await EngineClient.connect(
      resolveEndpoint({ dockerHost: dockerHost(), env: {} }),
    );
    const kitDir = await mkdtemp(join(tmpdir(), "bench-kit-"));
    const bundle = await build({
      entryPoints: ["sandboxes/fargate/execd/main.ts"],
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
    });
    writeKit(kitDir, bundle.outputFiles[0]?.contents ?? new Uint8Array());
    return new TaskContainers(client, kitDir);
  }

  async create({ image, limits, env, signal }: SandboxRequest): Promise<FargateSandbox> {
    signal.throwIfAborted();
    const socketDir = mkdtempSync(join(tmpdir(), "bench-run-"));
    const { Id } = await this.#client.json(Created, "POST", "/containers/create", {
      json: {
        Image: image.id,
        Entrypoint: entryPointOf(KIT_DIR, SOCKET_DIR),
        Cmd: [],
        User: "0",
        // What Fargate's platform sets, and nobody in the container may see.
        Env: [
          "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=/v2/credentials/secret",
          "ECS_AGENT_URI=x",
          // A task definition's own, which no command may inherit.
          ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
        ],
        HostConfig: {
          Binds: [`${this.#kitDir}:${KIT_DIR}:ro`, `${socketDir}:${SOCKET_DIR}`],
          NetworkMode: "host",
          Memory: limits.memoryMb * 1024 * 1024,
          MemorySwap: limits.memoryMb * 1024 * 1024,
          NanoCpus: limits.cpus * 1e9,
        },
      },
    });
    this.#made.set(Id, socketDir);
    await this.#client.run("POST", `/containers/${Id}/start`);
    const client = await ExecdClient.connect(socketPathOf(socketDir), 20_000, signal);
    return new FargateSandbox(Id, client, {
      image: image.id,
      imageDigest: null,
      seccomp: "",
      notes: [],
    });
  }

  async prepare(): Promise<PreparedImage> {
    throw new Error("the tests' images are there");
  }

  async list(): Promise<readonly []> {
    return [];
  }

  async isRunning(id: string): Promise<boolean> {
    const shape = z.object({ State: z.object({ Running: z.boolean() }) });
    return (await this.#client.json(shape, "GET", `/containers/${id}/json`)).State.Running;
  }

  async remove(id: string): Promise<void> {
    await this.#client.run("DELETE", `/containers/${id}?force=1&v=1`);
    rmSync(this.#made.get(id) ?? "", { recursive: true, force: true });
    this.#made.delete(id);
  }

  async removeImages(): Promise<readonly string[]> {
    return [];
  }

  async close(): Promise<void> {
    for (const id of this.#made.keys()) await this.remove(id);
    await rm(this.#kitDir, { recursive: true });
  }
}
