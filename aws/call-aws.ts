import type * as z from "zod";
import type { AwsClient } from "./aws-client.ts";

/** The services with a JSON protocol that we use: host name, prefix of their targets, protocol version. */
const SERVICES = {
  ecs: { target: "AmazonEC2ContainerServiceV20141113", version: "1.1" },
  states: { target: "AWSStepFunctions", version: "1.0" },
  codebuild: { target: "CodeBuild_20161006", version: "1.1" },
  "api.ecr": { target: "AmazonEC2ContainerRegistry_V20150921", version: "1.1" },
} as const;

export interface AwsCall {
  readonly service: keyof typeof SERVICES;
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** Calls an action of such a service and reads of its answer what the shape names. Throws `AwsError`. */
export async function callAws<Shape>(
  client: AwsClient,
  { service, action, input, signal }: AwsCall,
  shape: z.ZodType<Shape>,
): Promise<Shape> {
  const { target, version } = SERVICES[service];
  const answer = await client.send({
    service,
    method: "POST",
    path: "/",
    headers: {
      "content-type": `application/x-amz-json-${version}`,
      "x-amz-target": `${target}.${action}`,
    },
    body: new TextEncoder().encode(JSON.stringify(input)),
    ...(signal === undefined ? {} : { signal }),
  });
  return shape.parse(await answer.json());
}
