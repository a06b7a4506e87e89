import * as z from "zod";
import type { SandboxOwner } from "../../core/ports/sandbox.ts";
import { processState } from "../../host/process-identity.ts";
import type { EngineClient } from "./engine-client.ts";
import { hasStatus } from "./engine-error.ts";
import { OWN_REPOSITORY } from "./image-reference.ts";
import { encodeReference, type ImageFacts, inspectImage } from "./inspect-image.ts";
import { OWNED_LABEL } from "./ownership-labels.ts";

export const CONTEXT_LABEL = "benchflow.context";
const KEY_LABEL = "benchflow.key";
const BASES_LABEL = "benchflow.bases";
const OWNER_LABEL = "benchflow.owner";
const BUILDER_LABEL = "benchflow.builder";

interface BuildIdentity {
  readonly key: string;
  readonly contextDigest: string;
  /** Ids of the images it was built from: never removed with it. */
  readonly bases: readonly string[];
  readonly builder: "daemon" | "buildkit";
}

const Listed = z.array(
  z.looseObject({
    Id: z.string(),
    RepoTags: z.array(z.string()).nullish(),
    Created: z.number(),
  }),
);

/** Labels of an image that we build. The daemon applies them last, so that a Dockerfile cannot forge them. */
export function imageLabels(owner: SandboxOwner, build: BuildIdentity): Record<string, string> {
  return {
    [OWNED_LABEL]: "true",
    [CONTEXT_LABEL]: build.contextDigest,
    [KEY_LABEL]: build.key,
    [BASES_LABEL]: build.bases.join(" "),
    [OWNER_LABEL]: owner.process,
    [BUILDER_LABEL]: build.builder,
  };
}

/** What a person should know of how an image of ours was built. */
export function notesOnImage({ labels }: ImageFacts): readonly string[] {
  if (labels[BUILDER_LABEL] !== "buildkit") return [];
  return ["BuildKit built the image: its RUN steps could reach private addresses"];
}

/**
 * The image that an earlier build under the same key left, the oldest of several, so that all runs
 * agree. A label alone is no proof, since any image can be made with it: it must have a name of ours,
 * which nothing but our builds can have.
 */
export async function findCached(client: EngineClient, key: string): Promise<ImageFacts | null> {
  const found = await listOwn(client, `${KEY_LABEL}=${key}`);
  const oldest = found.toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
  for (const { id } of oldest) {
    const image = await inspectImage(client, id);
    if (image !== null) return image;
  }
  return null;
}

/**
 * Removes the images that runs of ours built, but those that a live run or a container still needs,
 * and their layers down to the base, which stays. Resolves to the names removed.
 */
export async function removeCachedImages(client: EngineClient): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { id } of await listOwn(client, `${OWNED_LABEL}=true`)) {
    const image = await inspectImage(client, id);
    if (image === null || processState(image.labels[OWNER_LABEL] ?? "") === "alive") continue;
    for (const tag of image.tags.filter(isOwnTag))
      if (await removeOne(client, tag)) removed.push(tag);
    await removeLayers(client, image);
  }
  return removed;
}

async function listOwn(
  client: EngineClient,
  label: string,
): Promise<{ id: string; created: number }[]> {
  const query = { filters: JSON.stringify({ label: [label] }) };
  const listed = await client.json(Listed, "GET", "/images/json", { query });
  return listed
    .filter(({ RepoTags }) => RepoTags?.some(isOwnTag) === true)
    .map(({ Id, Created }) => ({ id: Id, created: Created }));
}

function isOwnTag(tag: string): boolean {
  return tag.startsWith(`${OWN_REPOSITORY}/`);
}

/** The nameless images that the steps of a build leave, from the last one to the base. */
async function removeLayers(client: EngineClient, image: ImageFacts): Promise<void> {
  const bases = new Set((image.labels[BASES_LABEL] ?? "").split(" "));
  for (let id = image.parent; id !== "" && !bases.has(id);) {
    const layer = await inspectImage(client, id);
    if (layer === null || layer.tags.length > 0 || layer.repoDigests.length > 0) return;
    if (!(await removeOne(client, id))) return;
    id = layer.parent;
  }
}

/** Without its parents, which the daemon would take along although someone may want them. False: in use. */
async function removeOne(client: EngineClient, reference: string): Promise<boolean> {
  try {
    const query = { noprune: true };
    await client.run("DELETE", `/images/${encodeReference(reference)}`, { query });
    return true;
  } catch (error) {
    if (hasStatus(error, 404, 409)) return false;
    throw error;
  }
}
