import pLimit from "p-limit";
import type { ImageRequest, PreparedImage, SandboxBackend } from "../core/ports/sandbox.ts";

/**
 * Prepares each image once for all trials that start from it, at most `buildConcurrency` at a time.
 * A failed build is forgotten, so that a retry tries again.
 */
export class PreparedImages {
  readonly #backend: SandboxBackend;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #images = new Map<string, Promise<PreparedImage>>();

  constructor(backend: SandboxBackend, buildConcurrency: number) {
    this.#backend = backend;
    this.#limit = pLimit(buildConcurrency);
  }

  async prepare(request: ImageRequest): Promise<PreparedImage> {
    const { source } = request;
    const key = source.kind === "prebuilt" ? source.reference : source.contextDigest;
    const known = this.#images.get(key);
    if (known !== undefined) return await known;
    const prepared = this.#limit(() => this.#backend.prepare(request));
    this.#images.set(key, prepared);
    try {
      return await prepared;
    } catch (error) {
      this.#images.delete(key);
      throw error;
    }
  }
}
