import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { awsFailure } from "../../aws/aws-error.ts";
import { containerKeys } from "../../aws/container-keys.ts";
import { S3Client } from "../../aws/s3-client.ts";
import { sha256Hex } from "../../host/sha256-hex.ts";

/*
 * The first program of a task: small enough for the task definition itself. Fetches the programs that the
 * definition names by their hashes, and starts the one that fills the kit. `boot.js BUCKET DIR NAME=SHA256...`
 */
type Env = Readonly<Record<string, string | undefined>>;

export async function boot(env: Env, args: readonly string[]): Promise<void> {
  const [bucket, dir, ...programs] = args;
  if (bucket === undefined || dir === undefined) throw new Error("boot BUCKET DIR NAME=SHA256...");
  const client = new S3Client(env, async () => await containerKeys(env));
  mkdirSync(dir, { recursive: true });
  for (const program of programs) {
    const [name, sha256] = program.split("=");
    if (name === undefined || sha256 === undefined) throw new Error(`${program} is no NAME=SHA256`);
    const bytes = await fetchObject(client, bucket, `kit/${sha256}.mjs`);
    const found = sha256Hex(bytes);
    if (found !== sha256) throw new Error(`kit/${sha256}.mjs has sha256 ${found}`);
    writeFileSync(join(dir, `${name}.mjs`), bytes);
  }
  await import(pathToFileURL(join(dir, "task.mjs")).href);
}

async function fetchObject(client: S3Client, bucket: string, key: string): Promise<Uint8Array> {
  try {
    const answer = await client.send({ method: "GET", path: `/${bucket}/${key}` });
    return new Uint8Array(await answer.arrayBuffer());
  } catch (error) {
    throw awsFailure(error, `read ${key}`);
  }
}
