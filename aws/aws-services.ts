import type { CloudFormation } from "@aws-sdk/client-cloudformation";
import type { CodeBuild } from "@aws-sdk/client-codebuild";
import type { DynamoDB } from "@aws-sdk/client-dynamodb";
import type { ECR } from "@aws-sdk/client-ecr";
import type { ECS } from "@aws-sdk/client-ecs";
import type { SFN } from "@aws-sdk/client-sfn";
import type { STS } from "@aws-sdk/client-sts";
import { findKeys } from "./find-keys.ts";
import { regionOf } from "./s3-client.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** As often as S3 is asked. */
const MAX_ATTEMPTS = 8;

/**
 * AWS's own clients in one region, as one identity, each loaded when it is first asked for: a run on this
 * computer never pays for the cloud. They try again what is worth it.
 */
export class AwsServices {
  readonly region: string;
  readonly cloudFormation: () => Promise<CloudFormation>;
  readonly codeBuild: () => Promise<CodeBuild>;
  readonly dynamoDb: () => Promise<DynamoDB>;
  readonly ecr: () => Promise<ECR>;
  readonly ecs: () => Promise<ECS>;
  /** Step Functions. */
  readonly sfn: () => Promise<SFN>;
  readonly sts: () => Promise<STS>;

  /** Reads AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL, and what `findKeys` reads. */
  constructor(env: Env) {
    const config = configOf(env);
    this.region = config.region;
    this.cloudFormation = once(
      async () => new (await import("@aws-sdk/client-cloudformation")).CloudFormation(config),
    );
    this.codeBuild = once(
      async () => new (await import("@aws-sdk/client-codebuild")).CodeBuild(config),
    );
    this.dynamoDb = once(
      async () => new (await import("@aws-sdk/client-dynamodb")).DynamoDB(config),
    );
    this.ecr = once(async () => new (await import("@aws-sdk/client-ecr")).ECR(config));
    this.ecs = once(async () => new (await import("@aws-sdk/client-ecs")).ECS(config));
    this.sfn = once(async () => new (await import("@aws-sdk/client-sfn")).SFN(config));
    this.sts = once(async () => new (await import("@aws-sdk/client-sts")).STS(config));
  }
}

/** Makes it when it is first asked for. */
function once<Client>(make: () => Promise<Client>): () => Promise<Client> {
  let made: Promise<Client> | null = null;
  return async () => await (made ??= make());
}

function configOf(env: Env) {
  const endpoint = env["AWS_ENDPOINT_URL"];
  return {
    region: regionOf(env),
    maxAttempts: MAX_ATTEMPTS,
    credentials: async () => {
      const { keys, expiresAt } = await findKeys(env);
      return {
        accessKeyId: keys.accessKeyId,
        secretAccessKey: keys.secretAccessKey,
        ...(keys.sessionToken === null ? {} : { sessionToken: keys.sessionToken }),
        ...(expiresAt === null ? {} : { expiration: expiresAt }),
      };
    },
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}
