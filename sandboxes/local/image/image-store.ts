import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import {
  type ImageRequest,
  type PreparedImage,
  SandboxError,
} from "../../../core/ports/sandbox.ts";
import { identifyProcess, processState } from "../../../host/process-identity.ts";
import type { ImageConfig } from "../../../core/tasks/dockerfile/stage-scope.ts";
import { startBuildDeadline } from "../../builds/build-deadline.ts";
import type { LocalSandbox } from "../local-sandbox.ts";
import type { BaseRoot } from "../root/base-root.ts";
import { type StateFolder, fileNameOf, identityOf } from "../state-folder.ts";
import { type BaseFit, fitBase } from "./base-family.ts";
import { BuildContext } from "./build-context.ts";
import { withBuildLock } from "./build-lock.ts";
import { type BuildRecipe, readRecipe } from "./build-recipe.ts";
import { BuildShell } from "./build-shell.ts";
import { replayDockerfile } from "./replay-dockerfile.ts";

/** What an image's folder says about it, besides the layers in it. */
const ImageFile = z.object({
  version: z.literal(1),
  digest: z.string(),
  workdir: z.string(),
  env: z.record(z.string(), z.string()),
  user: z.string(),
  entrypoint: z.array(z.string()),
  notes: z.array(z.string()),
});
type ImageFile = z.infer<typeof ImageFile>;

/** Raised when the same context must give another image than it did. */
const REVISION = 4;

export interface ImageStoreOptions {
  readonly state: StateFolder;
  readonly base: BaseRoot;
  readonly platform: string;
  /** Makes the sandbox that a build runs in. */
  readonly create: (image: PreparedImage, request: ImageRequest) => Promise<LocalSandbox>;
}

/**
 * Images of local sandboxes: what a task's Dockerfile changes on top of this machine. Each is built
 * once for its context and this machine's packages, kept until it is pruned, and used whole or not
 * at all.
 */
export class ImageStore {
  readonly #options: ImageStoreOptions;

  constructor(options: ImageStoreOptions) {
    this.#options = options;
  }

  /** Finds an image or builds it. Throws what the port's `prepare` may throw. */
  async prepare(request: ImageRequest): Promise<PreparedImage> {
    request.signal.throwIfAborted();
    const { base, platform, state } = this.#options;
    const recipe = readRecipe(request, platform);
    const fit = fitBase(recipe.from, base.family, request.baseImageMap);
    const id = this.#idOf(request, recipe);
    const found = this.#find(id);
    if (found !== null) return this.#use(found);
    const limit = startBuildDeadline(request);
    try {
      const lock = join(state.dir, "locks", id);
      return await withBuildLock(lock, limit.signal, async () => {
        const built = this.#find(id);
        if (built !== null) return this.#use(built);
        await this.#build({ ...request, signal: limit.signal }, { id, recipe, fit });
        const image = this.#find(id);
        if (image === null)
          throw new SandboxError("image-missing", `image ${id} was built and is gone`);
        return this.#use({ ...image, builtHere: true });
      });
    } finally {
      limit.release();
    }
  }

  /** Layer folders of an image by tree, relative to the state folder. Throws `image-missing`. */
  layersOf(id: string): Map<string, string> {
    if (id === BARE_IMAGE.id) return new Map();
    if (this.#read(id) === null)
      throw new SandboxError("image-missing", `image ${id} is not there any more`);
    const layers = readdirSync(join(this.#dirOf(id), "layers"));
    return new Map(layers.map((tree) => [tree, `images/${id}/layers/${tree}`]));
  }

  notesOf(id: string): readonly string[] {
    return this.#read(id)?.notes ?? [];
  }

  /** Removes the images that neither `usedIds` nor a live run names; resolves to the names removed. */
  async removeUnused(usedIds: ReadonlySet<string>): Promise<string[]> {
    const ids = readdirSync(join(this.#options.state.dir, "images"));
    const unused = ids.filter((id) => !usedIds.has(id) && !this.#hasLiveUser(id));
    for (const id of unused) await this.#options.state.discard(this.#dirOf(id));
    return unused;
  }

  /** Notes that this process counts on the image, also before it has a sandbox on it. */
  #use(image: PreparedImage): PreparedImage {
    const users = join(this.#dirOf(image.id), "users");
    mkdirSync(users, { recursive: true });
    writeFileSync(join(users, fileNameOf(identifyProcess())), "");
    return image;
  }

  #hasLiveUser(id: string): boolean {
    const users = join(this.#dirOf(id), "users");
    return (
      existsSync(users) &&
      readdirSync(users).some((name) => processState(identityOf(name)) === "alive")
    );
  }

  async #build(
    request: ImageRequest,
    {
      id,
      recipe,
      fit,
    }: { readonly id: string; readonly recipe: BuildRecipe; readonly fit: BaseFit },
  ): Promise<void> {
    const { state, create } = this.#options;
    const sandbox = await create(BARE_IMAGE, request);
    try {
      const shell = new BuildShell(sandbox, request.signal, request.onLine);
      await provideProgram(fit, recipe, shell);
      let context: BuildContext | undefined;
      const config = await replayDockerfile(
        recipe,
        shell,
        () => (context ??= new BuildContext(request.contextDir, request.leaveOut ?? [])),
      );
      const staged = state.stage();
      await sandbox.capture(join(staged, "layers"));
      const file: ImageFile = {
        version: 1,
        digest: `sha256:${id}`,
        workdir: config.workdir,
        env: { ...config.env },
        user: config.user === "" ? "root" : config.user,
        entrypoint: wordsOf(config),
        notes: [fit.note],
      };
      writeFileSync(join(staged, "image.json"), JSON.stringify(file));
      state.publish(staged, this.#dirOf(id));
    } finally {
      await sandbox.destroy();
    }
  }

  #idOf({ source, leaveOut = [] }: ImageRequest, recipe: BuildRecipe): string {
    const content = source.kind === "dockerfile" ? source.contextDigest : `prebuilt ${recipe.from}`;
    const { base, platform } = this.#options;
    const parts = [REVISION, content, leaveOut, base.key, platform];
    return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  }

  #find(id: string): PreparedImage | null {
    const file = this.#read(id);
    if (file === null) return null;
    const { digest, workdir, env, user, entrypoint } = file;
    return { id, digest, workdir, env, user, entrypoint, builtHere: false };
  }

  #read(id: string): ImageFile | null {
    const path = join(this.#dirOf(id), "image.json");
    if (!/^[0-9a-f]{64}$/u.test(id) || !existsSync(path)) return null;
    return ImageFile.safeParse(JSON.parse(readFileSync(path, "utf8"))).data ?? null;
  }

  #dirOf(id: string): string {
    return join(this.#options.state.dir, "images", id);
  }
}

/** An ENTRYPOINT as docker keeps it: the shell form is handed to the shell of that point. */
function wordsOf({ entrypoint, shell }: ImageConfig): string[] {
  if (entrypoint === null) return [];
  return [...(entrypoint.form === "exec" ? entrypoint.argv : [...shell, entrypoint.script])];
}

/** The machine as it is, with no layer: what builds start from. */
export const BARE_IMAGE: PreparedImage = {
  id: "host",
  digest: null,
  workdir: "/",
  env: {},
  user: "root",
  builtHere: false,
};

const LINK_ALIAS = 'command -v -- "$2" || ln -s -- "$1" "/usr/local/bin/$2"';

/** An image of a language promises the language, by every name of it, and this machine may not have it. */
async function provideProgram(
  { program, alias }: BaseFit,
  { from }: BuildRecipe,
  shell: BuildShell,
): Promise<void> {
  if (program === null) return;
  const found = await shell.ask('command -v -- "$1"', program);
  if (found === null)
    throw new SandboxError(
      "unsupported",
      `FROM ${from} promises ${program}, and this machine has none that a sandbox sees: install it, or use --env docker`,
    );
  if (alias !== null && (await shell.ask(LINK_ALIAS, found, alias)) === null)
    throw new SandboxError("build-lost", `${alias} could not be made for FROM ${from}`);
}
