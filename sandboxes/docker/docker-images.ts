import { createHash, randomBytes } from "node:crypto";
import { type ImageRequest, type PreparedImage, SandboxError } from "../../core/ports/sandbox.ts";
import { startBuildDeadline } from "../builds/build-deadline.ts";
import { buildImage, type BuildOptions } from "./build-image.ts";
import { type BuildRecipe, readRecipe, remoteSourcesIn } from "./build-recipe.ts";
import { buildWithCli } from "./build-with-cli.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError } from "./engine-error.ts";
import { CONTEXT_LABEL, findCached, imageLabels, notesOnImage } from "./image-cache.ts";
import { isOwnReference, OWN_REPOSITORY } from "./image-reference.ts";
import { type ImageFacts, inspectImage, preparedImage } from "./inspect-image.ts";
import { pullImage } from "./pull-image.ts";
import { checkRemoteSource } from "./remote-source.ts";

export interface ImageSettings {
  readonly platform: string;
  /** The environment of the caller, for docker's own client and its logins. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configDir: string;
  /** Lends a network for RUN steps while a build runs. */
  readonly withBuildNetwork: <Value>(
    request: ImageRequest,
    use: (network: string) => Promise<Value>,
  ) => Promise<Value>;
}

const PING_MS = 15_000;

/** Bump when the same context must give another image than it did. */
const RECIPE_REVISION = 2;

/** Images of tasks: built once for each context digest and kept, or found, or pulled; never taken over. */
export class DockerImages {
  readonly #client: EngineClient;
  readonly #settings: ImageSettings;
  readonly #notes = new Map<string, readonly string[]>();

  constructor(client: EngineClient, settings: ImageSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  async prepare(request: ImageRequest): Promise<PreparedImage> {
    request.signal.throwIfAborted();
    const limit = startBuildDeadline(request);
    try {
      const limited = { ...request, signal: limit.signal };
      const { source } = request;
      if (source.kind === "dockerfile") return await this.#build(limited, source.contextDigest);
      const reference = request.baseImageMap[source.reference] ?? source.reference;
      return preparedImage(await this.#obtain(reference, limited), false);
    } finally {
      limit.release();
    }
  }

  async #build(request: ImageRequest, contextDigest: string): Promise<PreparedImage> {
    const { platform } = this.#settings;
    const recipe = await readRecipe({ ...request, platform });
    const found: ImageFacts[] = [];
    for (const base of recipe.bases) found.push(await this.#obtain(base, request));
    const bases = found.map(({ id }) => id);
    const { leaveOut = [] } = request;
    const key = keyOf({ revision: RECIPE_REVISION, contextDigest, leaveOut, platform, bases });
    const cached = await findCached(this.#client, key);
    if (cached !== null) return this.#noted(cached, false);
    // What a base has the builder run first is as foreign as the Dockerfile.
    const triggers = found.flatMap((base) => base.triggers);
    const inherited = remoteSourcesIn(triggers);
    for (const source of [...inherited, ...recipe.remoteSources]) await checkRemoteSource(source);
    const tag = newTag(request, contextDigest);
    const labels = imageLabels(request.owner, {
      key,
      contextDigest,
      bases,
      builder: recipe.buildKitOnly === null ? "daemon" : "buildkit",
    });
    const run = async (network: string): Promise<void> => {
      await this.#run({ ...request, recipe, tag, labels, network });
    };
    if (recipe.runsCommands || triggers.length > 0)
      await this.#settings.withBuildNetwork(request, run);
    else await run("none");
    const built = await inspectImage(this.#client, tag);
    if (built === null || built.labels[CONTEXT_LABEL] !== contextDigest)
      throw new SandboxError("image-missing", `${tag} was built and is not there any more`);
    return this.#noted(built, true);
  }

  /** What to know of an image that this object prepared, for the results. */
  notesOn(imageId: string): readonly string[] {
    return this.#notes.get(imageId) ?? [];
  }

  #noted(image: ImageFacts, builtHere: boolean): PreparedImage {
    this.#notes.set(image.id, notesOnImage(image));
    return preparedImage(image, builtHere);
  }

  async #run(options: BuildOptions & { readonly recipe: BuildRecipe }): Promise<void> {
    if (options.recipe.buildKitOnly === null) await buildImage(this.#client, options);
    else await this.#runClient(options);
  }

  /** The client says the same of a lost daemon as of a bad Dockerfile; only the daemon knows better. */
  async #runClient(options: BuildOptions): Promise<void> {
    try {
      await buildWithCli({ ...options, env: this.#settings.env });
    } catch (error) {
      options.signal.throwIfAborted();
      try {
        await this.#client.run("GET", "/_ping", { timeoutMs: PING_MS });
      } catch (lost) {
        throw asSandboxError(lost, "backend-unavailable", "docker build");
      }
      throw error;
    }
  }

  /** An image of the daemon, pulled when it is missing. */
  async #obtain(reference: string, request: ImageRequest): Promise<ImageFacts> {
    if (isOwnReference(reference))
      throw new SandboxError("unsupported", `${reference} is a name that bench keeps for itself`);
    const present = await inspectImage(this.#client, reference);
    if (present !== null) return present;
    const { platform, configDir } = this.#settings;
    const { signal, onLine } = request;
    await pullImage(this.#client, reference, { configDir, platform, signal, onLine });
    const pulled = await inspectImage(this.#client, reference);
    if (pulled !== null) return pulled;
    throw new SandboxError("image-missing", `${reference} was pulled and is not there`);
  }
}

function keyOf(parts: Readonly<Record<string, unknown>>): string {
  return `sha256:${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}

/**
 * A name that no other build ever gets: two jobs never share a tag, so neither can move the other's
 * image away. Only the digest in it has a meaning for people.
 */
function newTag({ owner }: ImageRequest, contextDigest: string): string {
  const name = owner.rolloutName.replace(/__[0-9a-f]+$/u, "").toLowerCase();
  const safe = name.replaceAll(/[^a-z0-9]+/gu, "-").replaceAll(/^-|-$/gu, "");
  const digest = contextDigest.replace(/^sha256:/u, "").slice(0, 16);
  const nonce = randomBytes(4).toString("hex");
  return `${OWN_REPOSITORY}/${safe === "" ? "task" : safe.slice(0, 60)}:${digest}-${nonce}`;
}
