import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { awsFailure } from "../../aws/aws-error.ts";
import { AwsServices } from "../../aws/aws-services.ts";
import { BenchError, messageOf } from "../../core/errors.ts";
import { assetsBucketName } from "../../infra/stack-names.ts";
import { openCloudAccount, openS3, readCaller, type StackOutputs } from "./cloud-account.ts";
import { cloudProgramsDir } from "./cloud-programs.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Packages that a deploy alone needs: 340 MB, which no run on this computer should have to install. */
export const DEPLOY_PACKAGES = "aws-cdk-lib@2.276.0 constructs@10.8.1 @aws-cdk/toolkit-lib@1.43.0";

/** Throws `BenchError` (`unavailable`) where they are not: to be told before anybody is asked anything. */
export async function requireDeployPackages(): Promise<void> {
  await withPackages(() => import("../../infra/deploy-stack.ts"));
  await withPackages(() => import("../../infra/synthesize.ts"));
}

/** Writes the stack's template and assets into a folder; asks nothing of any account. */
export async function synthesizeCloud(outDir: string): Promise<void> {
  const { synthesize } = await withPackages(() => import("../../infra/synthesize.ts"));
  synthesize(outDir, { aggregateDir: join(cloudProgramsDir(), "aggregate") });
}

export interface DeployRequest {
  readonly env: Env;
  readonly onLine: (line: string) => void;
}

/**
 * Creates or updates the stack in the account and region of the environment. Throws `BenchError`
 * (`unavailable`) with what AWS refused.
 */
export async function deployCloud({ env, onLine }: DeployRequest): Promise<StackOutputs> {
  const { deployStack } = await withPackages(() => import("../../infra/deploy-stack.ts"));
  const { region } = await makeAssetsBucket(env);
  const assemblyDir = await mkdtemp(join(tmpdir(), "bench-deploy-"));
  try {
    await synthesizeCloud(assemblyDir);
    await deployStack({ assemblyDir, region, onLine });
  } catch (cause) {
    if (cause instanceof BenchError) throw cause;
    throw new BenchError("unavailable", `the stack was not deployed: ${messageOf(cause)}`, {
      next: "mend what AWS refused, then run the same command again: it goes on where it stopped",
      cause,
    });
  } finally {
    await rm(assemblyDir, { recursive: true, force: true });
  }
  return (await openCloudAccount(env)).stack;
}

/** Where CloudFormation reads the function's code from; one an account and region, made once. */
async function makeAssetsBucket(env: Env): Promise<{ readonly region: string }> {
  const services = new AwsServices(env);
  const { region } = services;
  try {
    const { account } = await readCaller(services);
    const bucket = assetsBucketName(account, region);
    // The one region that is not named (S3 API reference, CreateBucket).
    const place =
      region === "us-east-1"
        ? ""
        : `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`;
    const request = { method: "PUT", path: `/${bucket}`, accept: [409] } as const;
    await openS3(env).send({ ...request, body: new TextEncoder().encode(place) });
    return { region };
  } catch (error) {
    throw awsFailure(error, "make the bucket for the stack's code");
  }
}

async function withPackages<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const isMissing =
      cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing) throw cause;
    throw new BenchError(
      "unavailable",
      "deploying needs CDK, which a run does not and is not here",
      {
        next: `\`npm install --no-save ${DEPLOY_PACKAGES}\` in the folder of bench, then run this again`,
        cause,
      },
    );
  }
}
