import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { signRequest } from "../../aws/sign-request.ts";

/*
 * The first program of a task: small enough for the task definition itself. Fetches the programs that the
 * definition names by their hashes, and starts the one that fills the kit. `boot.js BUCKET DIR NAME=SHA256...`
 */
type Env = Readonly<Record<string, string | undefined>>;

export async function boot(env: Env, args: readonly string[]): Promise<void> {
  const [bucket = "", dir = "", ...programs] = args;
  mkdirSync(dir, { recursive: true });
  for (const program of programs) {
    const [name = "", sha256 = ""] = program.split("=");
    const bytes = await fetchObject(env, bucket, `kit/${sha256}.mjs`);
    const found = createHash("sha256").update(bytes).digest("hex");
    if (found !== sha256) throw new Error(`kit/${sha256}.mjs has sha256 ${found}`);
    writeFileSync(join(dir, `${name}.mjs`), bytes);
  }
  await import(pathToFileURL(join(dir, "task.mjs")).href);
}

async function fetchObject(env: Env, bucket: string, key: string): Promise<Uint8Array> {
  const region = env["AWS_REGION"] ?? "us-east-1";
  const host = env["AWS_ENDPOINT_URL"] ?? `https://s3.${region}.amazonaws.com`;
  const url = new URL(`${host}/${bucket}/${key}`);
  const headers = signRequest({
    method: "GET",
    url,
    headers: {},
    bodySha256: createHash("sha256").digest("hex"),
    service: "s3",
    region,
    keys: await keysOf(env),
    now: new Date(),
  });
  const answer = await fetch(url, { headers });
  if (!answer.ok) throw new Error(`${key}: ${answer.status} ${await answer.text()}`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function keysOf(env: Env) {
  const path = env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];
  const id = env["AWS_ACCESS_KEY_ID"];
  if (id !== undefined || path === undefined) {
    const secretAccessKey = env["AWS_SECRET_ACCESS_KEY"] ?? "";
    return {
      accessKeyId: id ?? "",
      secretAccessKey,
      sessionToken: env["AWS_SESSION_TOKEN"] ?? null,
    };
  }
  const answer: unknown = await (await fetch(`http://169.254.170.2${path}`)).json();
  const field = (name: string): string => {
    const value: unknown =
      typeof answer === "object" && answer !== null ? Reflect.get(answer, name) : "";
    return typeof value === "string" ? value : "";
  };
  return {
    accessKeyId: field("AccessKeyId"),
    secretAccessKey: field("SecretAccessKey"),
    sessionToken: field("Token"),
  };
}
