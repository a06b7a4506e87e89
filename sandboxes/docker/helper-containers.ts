import { dirname } from "node:path";
import type { Duplex } from "node:stream";
import * as z from "zod";
import { SandboxError, type SandboxOwner } from "../../core/ports/sandbox.ts";
import type { TarHeader } from "../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../core/tar/write-tar.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import { programDigest } from "./helper-program.ts";
import { OWN_REPOSITORY } from "./image-reference.ts";
import { inspectImage } from "./inspect-image.ts";
import {
  leaseName,
  newSandboxName,
  OWNED_LABEL,
  ownershipLabels,
  SERVES_LABEL,
  SERVES_RUN,
} from "./ownership-labels.ts";
import { removeContainer } from "./remove-container.ts";
import { readStdioFrames } from "./stdio-frames.ts";

const Created = z.looseObject({ Id: z.string() });

/** Longest wait for a helper's "ok": a busy host may take its time to start a container. */
const HELPER_MS = 60_000;

const PROGRAM_PATH = "/program";

type HelperFile = NonNullable<HelperPlan["lent"]>;

export interface HelperSettings {
  readonly platform: string;
  readonly daemonNowMs: () => number;
}

/** What a helper is for. */
export interface HelperPlan {
  readonly program: Buffer;
  readonly owner: SandboxOwner;
  /** The name of the sandbox that it is for, or `SERVES_RUN`; null for one that stands for itself. */
  readonly serves: string | null;
  /** The daemon's name for its network: `none`, `host`, or `container:ID` to share one's. */
  readonly network: string;
  /** `container:ID` to see that one's processes, `host` for all. */
  readonly processes?: string;
  readonly uid: number;
  readonly capabilities: readonly string[];
  /** A program that other containers may mount from this one, and its absolute path. */
  readonly lent?: { readonly path: string; readonly program: Buffer };
}

/** A container that does one thing to a sandbox from outside, or holds a namespace. */
export interface Helper {
  readonly id: string;
  /** Resolves when it has done its work. */
  start(): Promise<void>;
  /** Starts it and hands over the stream that it is spoken to by. */
  open(): Promise<Duplex>;
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

/** Containers with nothing in them but one program of ours. */
export class HelperContainers {
  readonly #client: EngineClient;
  readonly #settings: HelperSettings;
  readonly #loaded = new Map<string, Promise<string>>();

  constructor(client: EngineClient, settings: HelperSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  get platform(): string {
    return this.#settings.platform;
  }

  /** Creates a helper that has not been started. */
  async make(plan: HelperPlan): Promise<Helper> {
    const id = await this.#create(plan);
    return {
      id,
      start: async () => {
        await this.#startAndWait(id);
      },
      open: async () => await this.#attachAndStart(id),
      remove: async () => {
        await removeContainer(this.#client, id);
      },
    };
  }

  async #create(plan: HelperPlan, isRetry = false): Promise<string> {
    const image = await this.#load(plan);
    const endsAtMs = this.#settings.daemonNowMs() + plan.owner.leaseMs;
    const name = leaseName(newSandboxName(), endsAtMs);
    try {
      const request = { query: { name }, json: helperBody(image, plan) };
      return (await this.#client.json(Created, "POST", "/containers/create", request)).Id;
    } catch (error) {
      await removeContainer(this.#client, name);
      if (hasStatus(error, 404) && !isRetry) {
        // Someone has removed the image since it was loaded.
        this.#loaded.clear();
        return await this.#create(plan, true);
      }
      throw asSandboxError(error, "start-failed", "cannot make a helper container");
    }
  }

  async #attachAndStart(id: string): Promise<Duplex> {
    const query = { stream: 1, stdin: 1, stdout: 1, stderr: 1 };
    try {
      const socket = await this.#client.hijack(`/containers/${id}/attach`, { query });
      await this.#client.run("POST", `/containers/${id}/start`);
      return socket;
    } catch (error) {
      throw asSandboxError(error, "start-failed", "cannot start a helper container");
    }
  }

  async #startAndWait(id: string): Promise<void> {
    const socket = await this.#attachAndStart(id);
    const timer = setTimeout(() => socket.destroy(), HELPER_MS);
    try {
      for await (const { chunk } of readStdioFrames(keepOpen(socket)))
        if (Buffer.from(chunk).toString("latin1") === "ok\n") return;
      throw new SandboxError("unsupported", "the kernel of the docker host refuses the helper");
    } catch (error) {
      throw asSandboxError(error, "start-failed", "cannot start a helper container");
    } finally {
      clearTimeout(timer);
    }
  }

  /** The image of a program: found, or loaded once for all that ask at the same time. */
  async #load({ program, lent }: HelperPlan): Promise<string> {
    const files = [{ path: PROGRAM_PATH, program }, ...(lent === undefined ? [] : [lent])];
    const tag = programDigest(Buffer.concat(files.map((file) => file.program)));
    const known = this.#loaded.get(tag) ?? this.#findOrImport(files, tag);
    this.#loaded.set(tag, known);
    try {
      return await known;
    } catch (error) {
      this.#loaded.delete(tag);
      throw asSandboxError(error, "start-failed", "cannot load a helper program");
    }
  }

  async #findOrImport(files: readonly HelperFile[], tag: string): Promise<string> {
    const repository = `${OWN_REPOSITORY}/helper`;
    const known = await inspectImage(this.#client, `${repository}:${tag}`);
    if (known !== null) return known.id;
    const { platform } = this.#settings;
    const changes = `LABEL ${OWNED_LABEL}=true`;
    await this.#client.run("POST", "/images/create", {
      query: { fromSrc: "-", repo: repository, tag, platform, changes },
      body: writeTar(files.map(({ path, program }) => programEntry(path, program))),
    });
    const loaded = await inspectImage(this.#client, `${repository}:${tag}`);
    if (loaded !== null) return loaded.id;
    throw new SandboxError("image-missing", "a helper program was loaded and is not there");
  }
}

/** The stream without its end: leaving the loop over it must not hang up on a helper that holds. */
async function* keepOpen(socket: NodeJS.ReadableStream): AsyncGenerator<Uint8Array> {
  const chunks = socket[Symbol.asyncIterator]();
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
    yield Buffer.from(next.value);
}

function helperBody(image: string, plan: HelperPlan): Record<string, unknown> {
  return {
    Image: image,
    User: `${String(plan.uid)}:${String(plan.uid)}`,
    Entrypoint: [PROGRAM_PATH],
    ...(plan.lent === undefined ? {} : { Volumes: { [dirname(plan.lent.path)]: {} } }),
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Labels: {
      ...ownershipLabels(plan.owner),
      ...(plan.serves === null ? {} : { [SERVES_LABEL]: plan.serves }),
    },
    HostConfig: {
      NetworkMode: plan.network,
      ...(plan.processes === undefined ? {} : { PidMode: plan.processes }),
      CapDrop: ["ALL"],
      CapAdd: plan.capabilities,
      SecurityOpt: ["no-new-privileges"],
      ReadonlyRootfs: true,
      RestartPolicy: { Name: "no" },
      // One that ends with its driver leaves nothing; the others are removed when they have done.
      AutoRemove: plan.serves === SERVES_RUN,
      LogConfig: { Type: "none" },
    },
  };
}

function programEntry(path: string, program: Buffer): TarSource {
  const header: TarHeader = {
    kind: "file",
    name: Buffer.from(path.slice(1)),
    mode: 0o755,
    uid: 0,
    gid: 0,
    sizeBytes: program.byteLength,
    mtimeSeconds: 0,
    linkName: new Uint8Array(),
  };
  return { header, content: [program] };
}
