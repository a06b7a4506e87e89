import { openS3 } from "../../api/cloud/cloud-account.ts";
import { S3ObjectStore } from "../../stores/s3/s3-object-store.ts";

/** The variables that test/emulator/up.sh printed; `npm run test:cloud` sets them. */
export function emulatedEnv(): Record<string, string> {
  const endpoint = process.env["AWS_ENDPOINT_URL"];
  if (endpoint === undefined || !endpoint.startsWith("http://127.0.0.1:"))
    throw new Error("no emulated account: run `npm run test:cloud`");
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "us-east-1",
  };
}

/** A store over a bucket of its own. */
export async function emptyBucket(name: string): Promise<S3ObjectStore> {
  const client = openS3(emulatedEnv());
  await client.send({ method: "PUT", path: `/${name}`, accept: [409] });
  return new S3ObjectStore(client, name);
}
