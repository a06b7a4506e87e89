import * as z from "zod";
import { AwsClient } from "../../aws/aws-client.ts";
import { AwsError, awsFailure } from "../../aws/aws-error.ts";
import { elementsOf, textOf } from "../../aws/read-xml.ts";
import { BenchError } from "../../core/errors.ts";
import { STACK_NAME } from "../../infra/stack-names.ts";

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
  readonly client: AwsClient;
  readonly stack: StackOutputs;
}

/**
 * The deployed stack in the account and region of the environment. Throws `BenchError` (`unavailable`) when
 * there are no credentials, no stack, or one that another version of this tool deployed.
 */
export async function openCloudAccount(
  env: Readonly<Record<string, string | undefined>>,
): Promise<CloudAccount> {
  const client = new AwsClient(env);
  const xml = await describeStack(client);
  const outputs = elementsOf(elementsOf(xml, "Outputs")[0] ?? "", "member").map((member) => [
    textOf(member, "OutputKey") ?? "",
    textOf(member, "OutputValue") ?? "",
  ]);
  const stack = StackOutputs.safeParse(Object.fromEntries(outputs));
  if (stack.success) return { client, stack: stack.data };
  throw new BenchError("unavailable", `stack ${STACK_NAME} is of another version of bench`, {
    next: "`bench cloud deploy` updates it",
    cause: stack.error,
  });
}

export interface Caller {
  /** The account's number. */
  readonly account: string;
  /** Who the credentials are: a user, or a role with its session. */
  readonly arn: string;
}

/** Throws `AwsError` when the credentials are not valid any more, `BenchError` for an answer without a name. */
export async function readCaller(client: AwsClient): Promise<Caller> {
  const answer = await query(client, "sts", "2011-06-15", { Action: "GetCallerIdentity" });
  const [account, arn] = [textOf(answer, "Account"), textOf(answer, "Arn")];
  if (account !== null && arn !== null) return { account, arn };
  throw new BenchError("unavailable", "AWS did not say whose the credentials are", {
    next: "run the same command again",
  });
}

async function describeStack(client: AwsClient): Promise<string> {
  const input = { Action: "DescribeStacks", StackName: STACK_NAME };
  try {
    return await query(client, "cloudformation", "2010-05-15", input);
  } catch (error) {
    const isMissing = error instanceof AwsError && /does not exist/u.test(error.message);
    if (!isMissing) throw awsFailure(error, "look for the stack");
    throw new BenchError("unavailable", `nothing is deployed in region ${client.region}`, {
      next: "`bench cloud deploy` creates what a sweep needs; AWS_REGION names another region",
      cause: error,
    });
  }
}

/** A call of AWS's query protocol; resolves to its XML. */
async function query(
  client: AwsClient,
  service: string,
  version: string,
  input: Readonly<Record<string, string>>,
): Promise<string> {
  const answer = await client.send({
    service,
    method: "POST",
    path: "/",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new TextEncoder().encode(new URLSearchParams({ ...input, Version: version }).toString()),
  });
  return await answer.text();
}
