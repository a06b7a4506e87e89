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
  readonly #config: ReturnType<typeof configOf>;
  #cloudFormation: Promise<CloudFormation> | null = null;
  #codeBuild: Promise<CodeBuild> | null = null;
  #dynamoDb: Promise<DynamoDB> | null = null;
  #ecr: Promise<ECR> | null = null;
  #ecs: Promise<ECS> | null = null;
  #sfn: Promise<SFN> | null = null;
  #sts: Promise<STS> | null = null;

  /** Reads AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL, and what `findKeys` reads. */
  constructor(env: Env) {
    this.region = regionOf(env);
    this.#config = configOf(env);
  }

  async cloudFormation(): Promise<CloudFormation> {
    return await (this.#cloudFormation ??= import("@aws-sdk/client-cloudformation").then(
      (sdk) => new sdk.CloudFormation(this.#config),
    ));
  }

  async codeBuild(): Promise<CodeBuild> {
    return await (this.#codeBuild ??= import("@aws-sdk/client-codebuild").then(
      (sdk) => new sdk.CodeBuild(this.#config),
    ));
  }

  async dynamoDb(): Promise<DynamoDB> {
    return await (this.#dynamoDb ??= import("@aws-sdk/client-dynamodb").then(
      (sdk) => new sdk.DynamoDB(this.#config),
    ));
  }

  async ecr(): Promise<ECR> {
    return await (this.#ecr ??= import("@aws-sdk/client-ecr").then(
      (sdk) => new sdk.ECR(this.#config),
    ));
  }

  async ecs(): Promise<ECS> {
    return await (this.#ecs ??= import("@aws-sdk/client-ecs").then(
      (sdk) => new sdk.ECS(this.#config),
    ));
  }

  /** Step Functions. */
  async sfn(): Promise<SFN> {
    return await (this.#sfn ??= import("@aws-sdk/client-sfn").then(
      (sdk) => new sdk.SFN(this.#config),
    ));
  }

  async sts(): Promise<STS> {
    return await (this.#sts ??= import("@aws-sdk/client-sts").then(
      (sdk) => new sdk.STS(this.#config),
    ));
  }
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
