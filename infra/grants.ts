import { ArnFormat, type Stack } from "aws-cdk-lib";
import type * as ecs from "aws-cdk-lib/aws-ecs";
import * as iam from "aws-cdk-lib/aws-iam";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as s3 from "aws-cdk-lib/aws-s3";

/** What no object may be written without: the condition that nothing is there yet. */
const ONLY_NEW = { Null: { "s3:if-none-match": "false" } };

function statement(
  actions: string[],
  resources: string[],
  conditions?: Record<string, unknown>,
): iam.PolicyStatement {
  return new iam.PolicyStatement({
    actions,
    resources,
    ...(conditions === undefined ? {} : { conditions }),
  });
}

/**
 * A runner reads its programs, its item and its task, and creates objects of attempts. It replaces and
 * deletes nothing. Reading an attempt back tells whether bytes that are there already are its own.
 */
export function grantRunner(role: iam.Role, bucket: s3.Bucket): void {
  const at = (path: string): string => bucket.arnForObjects(path);
  role.addToPolicy(
    statement(
      ["s3:GetObject"],
      [at("kit/*"), at("tasks/*"), at("runs/*/work/*"), at("runs/*/tree/*")],
    ),
  );
  role.addToPolicy(statement(["s3:PutObject"], [at("runs/*/tree/*")], ONLY_NEW));
}

/** The aggregate reads runs, and writes their summaries and manifests. */
export function grantAggregate(aggregate: lambda.Function, bucket: s3.Bucket): void {
  aggregate.addToRolePolicy(statement(["s3:GetObject"], [bucket.arnForObjects("runs/*")]));
  aggregate.addToRolePolicy(
    statement(["s3:ListBucket"], [bucket.bucketArn], { StringLike: { "s3:prefix": "runs/*" } }),
  );
  const written = ["runs/*/tree/*.json", "runs/*/manifest.json"];
  aggregate.addToRolePolicy(
    statement(
      ["s3:PutObject"],
      written.map((path) => bucket.arnForObjects(path)),
    ),
  );
}

export interface SweepParts {
  readonly stack: Stack;
  readonly bucket: s3.Bucket;
  readonly cluster: ecs.CfnCluster;
  readonly aggregate: lambda.Function;
  readonly roles: { readonly runner: iam.Role; readonly execution: iam.Role };
  readonly stateMachineName: string;
}

/** The state machine starts trials of ours on our cluster, and its own children. It redrives nothing. */
export function grantSweep(role: iam.Role, parts: SweepParts): void {
  const { stack, bucket, cluster, aggregate, roles, stateMachineName } = parts;
  const arn = (service: string, resource: string, resourceName: string): string =>
    stack.formatArn({ service, resource, resourceName });
  const colon = (resource: string): string =>
    stack.formatArn({
      service: "states",
      resource,
      resourceName: stateMachineName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  const onCluster = { ArnEquals: { "ecs:cluster": cluster.attrArn } };
  const granted: iam.PolicyStatement[] = [
    statement(["ecs:RunTask"], [arn("ecs", "task-definition", "bench-*:*")], onCluster),
    statement(["ecs:StopTask", "ecs:DescribeTasks"], [arn("ecs", "task", "*")], onCluster),
    statement(["iam:PassRole"], [roles.runner.roleArn, roles.execution.roleArn], {
      StringEquals: { "iam:PassedToService": "ecs-tasks.amazonaws.com" },
    }),
    // How Step Functions learns that a task has ended (its own rule of that name).
    statement(
      ["events:PutTargets", "events:PutRule", "events:DescribeRule"],
      [arn("events", "rule", "StepFunctionsGetEventsForECSTaskRule")],
    ),
    statement(["states:StartExecution"], [colon("stateMachine")]),
    statement(["states:DescribeExecution", "states:StopExecution"], [`${colon("execution")}/*`]),
    statement(["s3:GetObject"], [bucket.arnForObjects("runs/*/items.json")]),
    statement(["s3:GetObject", "s3:PutObject"], [bucket.arnForObjects("runs/*/map/*")]),
    statement(["lambda:InvokeFunction"], [aggregate.functionArn]),
  ];
  for (const each of granted) role.addToPolicy(each);
}
