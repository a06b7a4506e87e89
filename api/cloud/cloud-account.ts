import * as z from "zod";
import { awsFailure, refusalOf } from "../../aws/aws-error.ts";
import { AwsServices } from "../../aws/aws-services.ts";
import { findKeys } from "../../aws/find-keys.ts";
import { S3Client } from "../../aws/s3-client.ts";
import { BenchError, messageOf } from "../../core/errors.ts";
import { STACK_NAME } from "../../infra/stack-names.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** What the stack's outputs say: where everything of a run lies. */
const StackOutputs = z.object({
  OutBucket: z.string(),
  OutLedger: z.string(),
  OutCluster: z.string(),
  OutSweep: z.string(),
  OutImages: z.string(),
  OutImagesName: z.string(),
  OutBuilds: z.string(),
  OutLogGroup: z.string(),
  OutRunnerRole: z.string(),
  OutExecutionRole: z.string(),
});
export type StackOutputs = z.infer<typeof StackOutputs>;

export interface CloudAccount {
  readonly services: AwsServices;
  readonly s3: S3Client;
  readonly stack: StackOutputs;
}

/**
 * The deployed stack in the account and region of the environment. Throws `BenchError` (`unavailable`) when
 * there are no credentials, no stack, or one that another version of this tool deployed.
 */
export async function openCloudAccount(env: Env): Promise<CloudAccount> {
  const services = new AwsServices(env);
  const stack = StackOutputs.safeParse(Object.fromEntries(await readOutputs(services)));
  if (stack.success) return { services, s3: openS3(env), stack: stack.data };
  throw new BenchError("unavailable", `stack ${STACK_NAME} is of another version of bench`, {
    next: "`bench cloud deploy` updates it",
    cause: stack.error,
  });
}

export function openS3(env: Env): S3Client {
  return new S3Client(env, async () => await findKeys(env));
}

export interface Caller {
  /** The account's number. */
  readonly account: string;
  /** Who the credentials are: a user, or a role with its session. */
  readonly arn: string;
}

const Identity = z.object({ Account: z.string(), Arn: z.string() });

/** Throws the service's refusal when the credentials are not valid any more. */
export async function readCaller(services: AwsServices): Promise<Caller> {
  const answer = await (await services.sts()).getCallerIdentity({});
  const { Account, Arn } = Identity.parse(answer);
  return { account: Account, arn: Arn };
}

const Described = z.object({
  Stacks: z.tuple([
    z.object({
      Outputs: z.array(z.object({ OutputKey: z.string(), OutputValue: z.string() })).default([]),
    }),
  ]),
});

async function readOutputs(services: AwsServices): Promise<readonly (readonly [string, string])[]> {
  try {
    const cloudFormation = await services.cloudFormation();
    const answer = await cloudFormation.describeStacks({ StackName: STACK_NAME });
    const [{ Outputs }] = Described.parse(answer).Stacks;
    return Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue] as const);
  } catch (error) {
    const isMissing = refusalOf(error) !== null && /does not exist/u.test(messageOf(error));
    if (!isMissing) throw awsFailure(error, "look for the stack");
    throw new BenchError("unavailable", `nothing is deployed in region ${services.region}`, {
      next: "`bench cloud deploy` creates what a sweep needs; AWS_REGION names another region",
      cause: error,
    });
  }
}
