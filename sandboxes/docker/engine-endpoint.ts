import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { BenchError } from "../../core/errors.ts";

/** Where a daemon listens, as `node:http` needs it. */
export type EngineEndpoint =
  | { readonly kind: "unix"; readonly socketPath: string; readonly address: string }
  | {
      readonly kind: "tcp";
      readonly host: string;
      readonly port: number;
      readonly address: string;
      readonly tls: EngineTls | null;
    };

export interface EngineTls {
  readonly ca: Buffer | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
  readonly verify: boolean;
}

export interface EndpointOptions {
  /** What the person named; null to look where docker's own client looks. */
  readonly dockerHost?: string | null;
  /** The environment, passed in: DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH, HOME. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const DEFAULT_SOCKET = "unix:///var/run/docker.sock";

/**
 * Finds the daemon as docker's own client does: DOCKER_HOST, else DOCKER_CONTEXT, else the current
 * context of `~/.docker/config.json`, else the default socket. Throws `BenchError` (config) for an
 * address that cannot be used.
 */
export function resolveEndpoint({ dockerHost, env }: EndpointOptions): EngineEndpoint {
  const named = dockerHost ?? nonEmpty(env["DOCKER_HOST"]);
  if (named !== null) return parseHost(named, environmentTls(env));
  const folder = configFolder(env);
  const context = nonEmpty(env["DOCKER_CONTEXT"]) ?? currentContext(folder) ?? "default";
  if (context === "default") return parseHost(DEFAULT_SOCKET, null);
  return contextEndpoint(folder, context);
}

/** `~/.docker`, or what DOCKER_CONFIG says. */
export function configFolder(env: EndpointOptions["env"]): string {
  return nonEmpty(env["DOCKER_CONFIG"]) ?? join(env["HOME"] ?? "/root", ".docker");
}

function parseHost(text: string, tls: EngineTls | null): EngineEndpoint {
  const [, scheme, rest] = /^([a-z]+):\/\/(.*)$/u.exec(text) ?? [];
  if (scheme === "unix" && rest !== undefined && rest.startsWith("/"))
    return { kind: "unix", socketPath: rest, address: text };
  if (scheme === "ssh")
    throw new BenchError("config", `docker over ssh is not supported: ${text}`, {
      next: `ssh -fNT -L /tmp/docker.sock:/var/run/docker.sock ${rest ?? "HOST"} && export DOCKER_HOST=unix:///tmp/docker.sock`,
    });
  if (scheme !== "tcp" && scheme !== "http" && scheme !== "https") throw badHost(text);
  const address = text.replace(/^tcp:/u, "http:");
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.hostname === "" || url.pathname.length > 1) throw badHost(text);
  const secure = scheme === "https" ? (tls ?? NO_CLIENT_CERTIFICATE) : tls;
  const port = url.port === "" ? (secure === null ? 2375 : 2376) : Number(url.port);
  return { kind: "tcp", host: url.hostname, port, address: text, tls: secure };
}

const NO_CLIENT_CERTIFICATE: EngineTls = { ca: null, cert: null, key: null, verify: true };

function badHost(text: string): BenchError {
  return new BenchError("config", `not a docker address: ${JSON.stringify(text)}`, {
    next: "export DOCKER_HOST=unix:///var/run/docker.sock",
  });
}

/** Docker's own rule: DOCKER_TLS_VERIFY, when not empty, turns TLS on and checks the daemon's name. */
function environmentTls(env: EndpointOptions["env"]): EngineTls | null {
  if (nonEmpty(env["DOCKER_TLS_VERIFY"]) === null) return null;
  return readTls(nonEmpty(env["DOCKER_CERT_PATH"]) ?? configFolder(env), true);
}

function readTls(folder: string, verify: boolean): EngineTls {
  return {
    ca: readOptional(join(folder, "ca.pem")),
    cert: readOptional(join(folder, "cert.pem")),
    key: readOptional(join(folder, "key.pem")),
    verify,
  };
}

const ConfigFile = z.looseObject({ currentContext: z.string().optional() });
const ContextFile = z.looseObject({
  Endpoints: z.looseObject({
    docker: z.looseObject({ Host: z.string(), SkipTLSVerify: z.boolean().optional() }),
  }),
});

function currentContext(folder: string): string | null {
  const bytes = readOptional(join(folder, "config.json"));
  if (bytes === null) return null;
  const parsed = parseJson(ConfigFile, bytes, join(folder, "config.json"));
  return nonEmpty(parsed.currentContext);
}

/** Contexts lie in folders named by the sha256 of their name (docker/cli, `contextdir`). */
function contextEndpoint(folder: string, context: string): EngineEndpoint {
  const id = createHash("sha256").update(context).digest("hex");
  const path = join(folder, "contexts/meta", id, "meta.json");
  const bytes = readOptional(path);
  if (bytes === null)
    throw new BenchError("config", `docker context ${JSON.stringify(context)} does not exist`, {
      next: "docker context ls",
    });
  const { Host, SkipTLSVerify } = parseJson(ContextFile, bytes, path).Endpoints.docker;
  const tls = readTls(join(folder, "contexts/tls", id, "docker"), SkipTLSVerify !== true);
  const hasTls = tls.ca !== null || tls.cert !== null;
  return parseHost(Host, hasTls ? tls : null);
}

function parseJson<Shape>(schema: z.ZodType<Shape>, bytes: Buffer, path: string): Shape {
  try {
    return schema.parse(JSON.parse(bytes.toString("utf8")));
  } catch (error) {
    throw new BenchError("config", `${path} cannot be read as docker writes it`, {
      next: `correct ${path}, or set DOCKER_HOST`,
      cause: error,
    });
  }
}

function readOptional(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    // Absent and unreadable files are the same here: docker's client goes on without them too.
    return null;
  }
}

function nonEmpty(text: string | undefined): string | null {
  return text === undefined || text === "" ? null : text;
}
