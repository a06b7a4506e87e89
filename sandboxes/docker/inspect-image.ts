import * as z from "zod";
import type { PreparedImage } from "../../core/ports/sandbox.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";

const Inspected = z.looseObject({
  Id: z.string(),
  Parent: z.string().nullish(),
  RepoTags: z.array(z.string()).nullish(),
  RepoDigests: z.array(z.string()).nullish(),
  Config: z
    .looseObject({
      User: z.string().nullish(),
      Entrypoint: z.array(z.string()).nullish(),
      Env: z.array(z.string()).nullish(),
      WorkingDir: z.string().nullish(),
      Labels: z.record(z.string(), z.string()).nullish(),
      OnBuild: z.array(z.string()).nullish(),
    })
    .nullish(),
});

/** An image as the daemon holds it. */
export interface ImageFacts {
  readonly id: string;
  readonly parent: string;
  readonly tags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly workdir: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** Instructions that a build from this image runs first. */
  readonly triggers: readonly string[];
}

/** Looks an image up by id, tag or digest; null when the daemon does not have it. */
export async function inspectImage(
  client: EngineClient,
  reference: string,
): Promise<ImageFacts | null> {
  try {
    const found = await client.json(Inspected, "GET", `/images/${encodeReference(reference)}/json`);
    const { Config } = found;
    return {
      id: found.Id,
      parent: found.Parent ?? "",
      tags: found.RepoTags ?? [],
      repoDigests: found.RepoDigests ?? [],
      workdir: Config?.WorkingDir ?? "",
      user: Config?.User ?? "",
      entrypoint: Config?.Entrypoint ?? [],
      env: readEnvironment(Config?.Env ?? []),
      labels: Config?.Labels ?? {},
      triggers: Config?.OnBuild ?? [],
    };
  } catch (error) {
    if (hasStatus(error, 404)) return null;
    throw asSandboxError(error, "image-missing", `cannot look up the image ${reference}`);
  }
}

/** Slashes of a reference are part of the path; what else could end it is escaped. */
export function encodeReference(reference: string): string {
  return reference.split("/").map(encodeURIComponent).join("/").replaceAll("%3A", ":");
}

/** An image ready to start from. Its digest is the registry's where it has one, else its own id. */
export function preparedImage(image: ImageFacts, builtHere: boolean): PreparedImage {
  const [, digest = image.id] = image.repoDigests[0]?.split("@") ?? [];
  return {
    id: image.id,
    digest,
    workdir: image.workdir,
    env: image.env,
    user: image.user,
    entrypoint: image.entrypoint,
    builtHere,
  };
}

function readEnvironment(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const equals = entry.indexOf("=");
      return equals < 0 ? [entry, ""] : [entry.slice(0, equals), entry.slice(equals + 1)];
    }),
  );
}
