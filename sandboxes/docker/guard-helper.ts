import * as z from "zod";
import { SandboxError, type SandboxOwner } from "../../core/ports/sandbox.ts";
import type { TarHeader } from "../../core/tar/tar-entry.ts";
import { writeTar } from "../../core/tar/write-tar.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import { guardProgram, programDigest } from "./guard-program.ts";
import { OWN_REPOSITORY } from "./image-reference.ts";
import { inspectImage } from "./inspect-image.ts";
import {
  leaseName,
  newSandboxName,
  OWNED_LABEL,
  ownershipLabels,
  SERVES_LABEL,
} from "./ownership-labels.ts";
import { removeContainer } from "./remove-container.ts";
import { readStdioFrames } from "./stdio-frames.ts";

const Created = z.looseObject({ Id: z.string() });

const GUARD_MS = 60_000;

export interface GuardSettings {
  readonly platform: string;
  readonly daemonNowMs: () => number;
}

/** What a helper is for. */
export interface GuardRun {
  readonly network: string;
  readonly owner: SandboxOwner;
  /** The name of the sandbox that it is for; null for one that stands for itself. */
  readonly serves: string | null;
  readonly messages: readonly Buffer[];
  readonly holds: boolean;
}

/** A container that does one thing to a network namespace, or holds one. */
export interface Helper {
  readonly id: string;
  /** Resolves when it has done its work. */
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts a helper, waits for its work and removes it. */
export async function useHelper(helper: Helper): Promise<void> {
  try {
    await helper.start();
  } finally {
    await helper.remove();
  }
}

/** Containers with nothing in them but the guard program: the one place where CAP_NET_ADMIN is given. */
export class GuardHelpers {
  readonly #client: EngineClient;
  readonly #settings: GuardSettings;
  readonly #loaded = new Map<string, Promise<string>>();

  constructor(client: EngineClient, settings: GuardSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  /** Creates a helper that has not been started. */
  async make(run: GuardRun): Promise<Helper> {
    const id = await this.#create(run);
    return {
      id,
      start: async () => {
        await this.#startAndWait(id);
      },
      remove: async () => {
        await removeContainer(this.#client, id);
      },
    };
  }

  async #create(run: GuardRun, isRetry = false): Promise<string> {
    const { platform, daemonNowMs } = this.#settings;
    const image = await this.#load(guardProgram(platform, run.messages, run.holds));
    const name = leaseName(newSandboxName(), daemonNowMs() + run.owner.leaseMs);
    try {
      const request = { query: { name }, json: guardBody(image, run) };
      return (await this.#client.json(Created, "POST", "/containers/create", request)).Id;
    } catch (error) {
      await removeContainer(this.#client, name);
      if (hasStatus(error, 404) && !isRetry) {
        // Someone has removed the image since it was loaded.
        this.#loaded.clear();
        return await this.#create(run, true);
      }
      throw asSandboxError(error, "start-failed", "cannot make the network guard");
    }
  }

  async #startAndWait(id: string): Promise<void> {
    const query = { stream: 1, stdin: 1, stdout: 1, stderr: 1 };
    const socket = await this.#client.hijack(`/containers/${id}/attach`, { query });
    const timer = setTimeout(() => socket.destroy(), GUARD_MS);
    try {
      await this.#client.run("POST", `/containers/${id}/start`);
      for await (const { chunk } of readStdioFrames(keepOpen(socket)))
        if (Buffer.from(chunk).toString("latin1") === "ok\n") return;
      throw new SandboxError("unsupported", "the kernel of the docker host takes no routing rules");
    } catch (error) {
      throw asSandboxError(error, "start-failed", "cannot start the network guard");
    } finally {
      clearTimeout(timer);
    }
  }

  /** The image of a program: found, or loaded once for all that ask at the same time. */
  async #load(program: Buffer): Promise<string> {
    const tag = programDigest(program);
    const known = this.#loaded.get(tag) ?? this.#findOrImport(program, tag);
    this.#loaded.set(tag, known);
    try {
      return await known;
    } catch (error) {
      this.#loaded.delete(tag);
      throw asSandboxError(error, "start-failed", "cannot load the network guard");
    }
  }

  async #findOrImport(program: Buffer, tag: string): Promise<string> {
    const repository = `${OWN_REPOSITORY}/network-guard`;
    const known = await inspectImage(this.#client, `${repository}:${tag}`);
    if (known !== null) return known.id;
    const { platform } = this.#settings;
    const changes = `LABEL ${OWNED_LABEL}=true`;
    await this.#client.run("POST", "/images/create", {
      query: { fromSrc: "-", repo: repository, tag, platform, changes },
      body: writeTar([{ header: programHeader(program.byteLength), content: [program] }]),
    });
    const loaded = await inspectImage(this.#client, `${repository}:${tag}`);
    if (loaded !== null) return loaded.id;
    throw new SandboxError("image-missing", "the network guard was loaded and is not there");
  }
}

/** The stream without its end: leaving the loop over it must not hang up on a guard that holds. */
async function* keepOpen(socket: NodeJS.ReadableStream): AsyncGenerator<Uint8Array> {
  const chunks = socket[Symbol.asyncIterator]();
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
    yield Buffer.from(next.value);
}

function guardBody(image: string, run: GuardRun): Record<string, unknown> {
  return {
    Image: image,
    User: "0:0",
    Entrypoint: ["/guard"],
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Labels: {
      ...ownershipLabels(run.owner),
      ...(run.serves === null ? {} : { [SERVES_LABEL]: run.serves }),
    },
    HostConfig: {
      NetworkMode: run.network,
      CapDrop: ["ALL"],
      CapAdd: ["NET_ADMIN"],
      SecurityOpt: ["no-new-privileges"],
      ReadonlyRootfs: true,
      PidsLimit: 4,
      RestartPolicy: { Name: "no" },
      LogConfig: { Type: "none" },
    },
  };
}

function programHeader(sizeBytes: number): TarHeader {
  const name = Buffer.from("guard");
  const none = new Uint8Array();
  return {
    kind: "file",
    name,
    mode: 0o755,
    uid: 0,
    gid: 0,
    sizeBytes,
    mtimeSeconds: 0,
    linkName: none,
  };
}
