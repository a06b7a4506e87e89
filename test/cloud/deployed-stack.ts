import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AwsClient } from "../../aws/aws-client.ts";
import { type CloudAccount, openCloudAccount } from "../../api/cloud/cloud-account.ts";
import { deployStack } from "../../infra/deploy-stack.ts";
import { synthesize } from "../../infra/synthesize.ts";
import { emulatedEnv } from "./emulated-account.ts";

/** Deploys the stack for real to the emulated account; a second call updates nothing. */
export async function deployToEmulator(): Promise<{ account: CloudAccount; lines: string[] }> {
  const env = emulatedEnv();
  Object.assign(process.env, env, { AWS_EC2_METADATA_DISABLED: "true" });
  const client = new AwsClient(env);
  const bucket = "/benchflow-assets-000000000000-us-east-1";
  await client.send({ service: "s3", method: "PUT", path: bucket, accept: [409] });
  const dir = mkdtempSync(join(tmpdir(), "bench-synth-"));
  const lines: string[] = [];
  try {
    synthesize(dir, { aggregateDir: "dist/cloud/aggregate" });
    await deployStack({
      assemblyDir: dir,
      region: "us-east-1",
      onLine: (line) => lines.push(line),
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
  return { account: await openCloudAccount(env), lines };
}
