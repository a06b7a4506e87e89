import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ImageRequest, PreparedImage } from "../../../core/ports/sandbox.ts";
import { outputOf } from "../../../sandboxes/contract/run-in-sandbox.ts";
import type { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { LIMITS, OWNER } from "./docker-fixture.ts";
import { RawEngine } from "./raw-engine.ts";

interface RawImage {
  readonly RepoTags: string[] | null;
  readonly Config: { readonly Labels: Record<string, string> | null };
}

/** Build contexts to try, and looks at the images that come of them. */
export class ImageWorkshop {
  readonly raw: RawEngine;
  readonly folder = mkdtempSync(join(tmpdir(), "docker-images-"));
  readonly #backend: DockerSandboxes;
  /** In every digest, so that the images of another run are not found. */
  readonly #nonce = randomBytes(8).toString("hex");
  #contexts = 0;

  constructor(host: string, backend: DockerSandboxes) {
    this.raw = new RawEngine(host);
    this.#backend = backend;
  }

  /** A request for the image of a new context with these files. */
  contextOf(
    files: Readonly<Record<string, string>>,
    extra: Partial<ImageRequest> = {},
  ): ImageRequest {
    this.#contexts += 1;
    const contextDir = join(this.folder, String(this.#contexts));
    mkdirSync(contextDir, { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(contextDir, name)), { recursive: true });
      writeFileSync(join(contextDir, name), content);
    }
    return {
      source: { kind: "dockerfile", contextDigest: this.digestOf(String(this.#contexts)) },
      contextDir,
      baseImageMap: {},
      timeoutMs: 90_000,
      limits: LIMITS,
      owner: OWNER,
      signal: new AbortController().signal,
      onLine: () => undefined,
      ...extra,
    };
  }

  digestOf(text: string): string {
    return `sha256:${createHash("sha256").update(this.#nonce).update(text).digest("hex")}`;
  }

  /** What a script prints in a sandbox of the image. */
  async listing(image: PreparedImage, script: string): Promise<string> {
    const sandbox = await this.#backend.create({
      image,
      owner: OWNER,
      limits: LIMITS,
      network: "closed",
      env: {},
      signal: new AbortController().signal,
    });
    try {
      return await outputOf(sandbox, script, { env: { PATH: "/usr/bin:/bin", LC_ALL: "C" } });
    } finally {
      await sandbox.destroy();
    }
  }

  readonly tagsOf = async (image: PreparedImage): Promise<string[]> =>
    (await this.#inspect(image)).RepoTags ?? [];

  async labelsOf(image: PreparedImage): Promise<Record<string, string>> {
    return (await this.#inspect(image)).Config.Labels ?? {};
  }

  async exists(reference: string): Promise<boolean> {
    return await this.raw.call("GET", `/images/${reference}/json`).then(
      () => true,
      () => false,
    );
  }

  /** Containers of build steps, which carry no label of ours: found by their command. */
  readonly buildContainers = async (): Promise<unknown[]> => {
    const all = await this.raw.list("/containers/json?all=1");
    return all.filter((each) => JSON.stringify(each).includes("sleep 301.5"));
  };

  /** Deletes the images of this run: their owner lives, so pruning would keep them. */
  async close(): Promise<void> {
    const filters = encodeURIComponent(JSON.stringify({ label: ["benchflow.owned=true"] }));
    const images = await this.raw.list(`/images/json?filters=${filters}`);
    for (const image of images as { RepoTags: string[] | null }[])
      for (const tag of image.RepoTags ?? [])
        if (tag.startsWith("localhost/benchflow/contract:"))
          await this.raw.call("DELETE", `/images/${tag}`);
    rmSync(this.folder, { recursive: true });
  }

  async #inspect(image: PreparedImage): Promise<RawImage> {
    return (await this.raw.call("GET", `/images/${image.id}/json`)) as RawImage;
  }
}

/** This machine's addresses, loopback included. */
export function hostAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.filter(({ family }) => family === "IPv4").map(({ address }) => address);
}

/** A server on every address of this machine; resolves to its port. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, "0.0.0.0", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
