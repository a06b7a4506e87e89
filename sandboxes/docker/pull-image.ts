import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { SandboxError } from "../../core/ports/sandbox.ts";
import type { EngineClient } from "./engine-client.ts";
import { EngineError } from "./engine-error.ts";
import { readEvents } from "./event-lines.ts";
import { parseReference } from "./image-reference.ts";

export interface PullOptions {
  /** `~/.docker`: logins of `docker login` lie there. */
  readonly configDir: string;
  readonly platform: string;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

/** Gets an image from its registry. Throws `image-missing` with the registry's own words. */
export async function pullImage(
  client: EngineClient,
  reference: string,
  options: PullOptions,
): Promise<void> {
  const { registry, repository, tag } = parseReference(reference);
  const login = readLogin(options.configDir, registry);
  try {
    const response = await client.call("POST", "/images/create", {
      query: { fromImage: repository, tag, platform: options.platform },
      headers: login === null ? {} : { "x-registry-auth": login },
      signal: options.signal,
      timeoutMs: null,
    });
    for await (const event of readEvents(response)) {
      if (event.error !== undefined) throw missing(reference, event.error);
      // Progress bars of layers come a hundred a second; a person wants the layers' states.
      if (event["progressDetail"] === undefined && event.status !== undefined)
        options.onLine([event.id, event.status].filter(Boolean).join(": "));
    }
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof EngineError) throw missing(reference, error.message, error);
    throw error;
  }
}

function missing(reference: string, reason: string, cause?: unknown): SandboxError {
  return new SandboxError(
    "image-missing",
    `cannot pull ${reference}: ${reason}; \`docker pull ${reference}\` must work first`,
    { cause },
  );
}

const ConfigFile = z.looseObject({
  auths: z.record(z.string(), z.looseObject({ auth: z.string().optional() })).optional(),
});

/**
 * The login for a registry as `docker login` keeps it in config.json, in the form of the API's
 * header. Logins in a credential helper are not read: an image that needs one is pulled by hand.
 */
export function readLogin(configDir: string, registry: string): string | null {
  const key = registry === "docker.io" ? "https://index.docker.io/v1/" : registry;
  const auth = parseConfig(join(configDir, "config.json"))?.auths?.[key]?.auth;
  if (auth === undefined || auth === "") return null;
  const [username = "", ...password] = Buffer.from(auth, "base64").toString("utf8").split(":");
  const login = { username, password: password.join(":"), serveraddress: key };
  return Buffer.from(JSON.stringify(login)).toString("base64url");
}

function parseConfig(path: string): z.infer<typeof ConfigFile> | null {
  try {
    return ConfigFile.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    // No file, or one that docker itself cannot use: the registry says whether a login is needed.
    return null;
  }
}
