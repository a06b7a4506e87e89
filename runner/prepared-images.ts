import pLimit from "p-limit";
import {
  type ImageRequest,
  type PreparedImage,
  type SandboxBackend,
  SandboxError,
} from "../core/ports/sandbox.ts";

/**
 * Prepares each image once for all trials that start from it, at most `buildConcurrency` at a time.
 * A failed build is forgotten, so that a retry tries again, unless the same files must fail again:
 * then every later trial of the job is told so at once.
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
    const name = source.kind === "prebuilt" ? source.reference : source.contextDigest;
    const key = JSON.stringify([name, ...(request.leaveOut ?? [])]);
    const known = this.#images.get(key);
    if (known !== undefined) return await known;
    const prepared = this.#limit(() => this.#backend.prepare(request));
    this.#images.set(key, prepared);
    try {
      return await prepared;
    } catch (error) {
      if (!isFinal(error)) this.#images.delete(key);
      throw error;
    }
  }
}

function isFinal(error: unknown): boolean {
  if (!(error instanceof SandboxError)) return false;
  return error.failure === "build-failed" || error.failure === "unsupported";
}
