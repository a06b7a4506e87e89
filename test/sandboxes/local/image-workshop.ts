import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ImageRequest, PreparedImage } from "../../../core/ports/sandbox.ts";
import { identifyProcess } from "../../../host/process-identity.ts";
import { type OpenLocal, openLocal, run } from "./open-local.ts";
import { runRequest } from "./requests.ts";

/** Local sandboxes and build contexts for the tests of images. */
export class ImageWorkshop {
  readonly local: OpenLocal;
  readonly #folder = mkdtempSync(join(tmpdir(), "local-images-"));
  #contexts = 0;

  private constructor(local: OpenLocal) {
    this.local = local;
  }

  static async open(): Promise<ImageWorkshop> {
    return new ImageWorkshop(await openLocal());
  }

  async close(): Promise<void> {
    await this.local.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** A build request with a context of its own. */
  requestFor(
    dockerfile: string,
    files: Readonly<Record<string, string>> = {},
    overrides: Partial<ImageRequest> = {},
  ): ImageRequest {
    this.#contexts += 1;
    const contextDir = join(this.#folder, `context-${String(this.#contexts)}`);
    for (const [path, text] of Object.entries({ ...files, Dockerfile: dockerfile })) {
      mkdirSync(dirname(join(contextDir, path)), { recursive: true });
      writeFileSync(join(contextDir, path), text);
    }
    const digest = `${String(process.pid)}-${String(this.#contexts)}`;
    return {
      ...runRequest({ process: identifyProcess(), contextDir, digest }).image,
      ...overrides,
    };
  }

  async build(...args: Parameters<ImageWorkshop["requestFor"]>): Promise<PreparedImage> {
    return await this.local.backend.prepare(this.requestFor(...args));
  }

  /** What a script prints in a new sandbox of the image. */
  async seen(image: PreparedImage, script: string, uid = 0): Promise<string> {
    const { code, out, err } = await run(await this.local.create(image), script, uid);
    assert.equal(code, 0, err);
    return out;
  }

  /** How a build fails, `failure: message`; its sandbox is gone then. */
  async failure(...args: Parameters<ImageWorkshop["requestFor"]>): Promise<string> {
    const before = await this.local.backend.list();
    const outcome: unknown = await this.build(...args).catch((error: unknown) => error);
    assert.deepEqual(await this.local.backend.list(), before);
    if (outcome instanceof Error && "failure" in outcome)
      return `${String(outcome.failure)}: ${outcome.message}`;
    throw new Error("the build went well, or failed with another error", { cause: outcome });
  }
}
