/** What the state machine names of its stack; ARNs, or CDK's stand-ins for them. */
export interface SweepParts {
  readonly clusterArn: string;
  readonly subnetIds: readonly string[];
  readonly securityGroupId: string;
  readonly bucket: string;
  readonly aggregateArn: string;
}

/** RunTask was refused for a while: its rate, its capacity, the service (AWS notes in docs/aws.md). */
const PASSING = ["ECS.AmazonECSException", "ECS.ServerException", "AmazonECS.Unknown"];

/**
 * A sweep in Amazon States Language: a Distributed Map over the run's items, each child one task, then the
 * aggregate. Nothing fails the map: a child ends well whatever became of its task, because the attempt's
 * sealed folder says how it went, and an attempt without one counts as not ended. What every state
 * carries are pointers.
 */
export function sweepDefinition(parts: SweepParts): Record<string, unknown> {
  return {
    Comment: "benchflow-cloud: one sweep of trials",
    StartAt: "Trials",
    States: {
      Trials: trialsState(parts),
      Aggregate: {
        Type: "Task",
        Resource: "arn:aws:states:::lambda:invoke",
        Parameters: { FunctionName: parts.aggregateArn, Payload: { "run.$": "$.run" } },
        ResultSelector: { "attempts.$": "$.Payload.attempts" },
        Retry: [
          {
            ErrorEquals: ["States.ALL"],
            IntervalSeconds: 2,
            BackoffRate: 2,
            MaxAttempts: 4,
            JitterStrategy: "FULL",
          },
        ],
        End: true,
      },
    },
  };
}

function trialsState(parts: SweepParts): Record<string, unknown> {
  return {
    Type: "Map",
    Label: "trials",
    ItemReader: {
      Resource: "arn:aws:states:::s3:getObject",
      ReaderConfig: { InputType: "JSON" },
      Parameters: { Bucket: parts.bucket, "Key.$": "$.items" },
    },
    ItemSelector: {
      "run.$": "$.run",
      "rollout.$": "$$.Map.Item.Value.rollout",
      "work.$": "$$.Map.Item.Value.work",
      "taskDefinition.$": "$$.Map.Item.Value.taskDefinition",
      "timeoutSec.$": "$$.Map.Item.Value.timeoutSec",
    },
    MaxConcurrencyPath: "$.width",
    ToleratedFailurePercentage: 100,
    ItemProcessor: {
      ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
      StartAt: "RunTrial",
      States: {
        RunTrial: runTrialState(parts),
        Ran: { Type: "Pass", Parameters: { "rollout.$": "$.rollout", status: "ran" }, End: true },
        Stopped: {
          Type: "Pass",
          Parameters: { "rollout.$": "$.rollout", status: "stopped", "error.$": "$.error.Error" },
          End: true,
        },
      },
    },
    ResultWriter: {
      Resource: "arn:aws:states:::s3:putObject",
      Parameters: { Bucket: parts.bucket, "Prefix.$": "States.Format('runs/{}/map', $.run)" },
      WriterConfig: { OutputType: "JSONL", Transformation: "COMPACT" },
    },
    ResultPath: "$.map",
    // Only a fault of the map itself, such as items that cannot be read: what ended is still aggregated.
    Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.map", Next: "Aggregate" }],
    Next: "Aggregate",
  };
}

function runTrialState(parts: SweepParts): Record<string, unknown> {
  return {
    Type: "Task",
    Resource: "arn:aws:states:::ecs:runTask.sync",
    Parameters: {
      Cluster: parts.clusterArn,
      "TaskDefinition.$": "$.taskDefinition",
      LaunchType: "FARGATE",
      PlatformVersion: "1.4.0",
      "Group.$": "$.run",
      NetworkConfiguration: {
        AwsvpcConfiguration: {
          Subnets: parts.subnetIds,
          SecurityGroups: [parts.securityGroupId],
          AssignPublicIp: "ENABLED",
        },
      },
      Overrides: {
        ContainerOverrides: [
          { Name: "runner", Environment: [{ Name: "BENCH_WORK", "Value.$": "$.work" }] },
        ],
      },
    },
    TimeoutSecondsPath: "$.timeoutSec",
    ResultSelector: { "task.$": "$.TaskArn" },
    ResultPath: "$.ran",
    Retry: [
      {
        ErrorEquals: PASSING,
        IntervalSeconds: 5,
        BackoffRate: 2,
        MaxDelaySeconds: 120,
        MaxAttempts: 10,
        JitterStrategy: "FULL",
      },
      // Also wraps EC2's own throttling of subnet look-ups.
      {
        ErrorEquals: ["ECS.InvalidParameterException"],
        IntervalSeconds: 10,
        BackoffRate: 2,
        MaxAttempts: 3,
        JitterStrategy: "FULL",
      },
    ],
    Catch: [
      // `States.ALL` does not hold these two.
      {
        ErrorEquals: ["States.DataLimitExceeded", "States.Runtime"],
        ResultPath: "$.error",
        Next: "Stopped",
      },
      { ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: "Stopped" },
    ],
    Next: "Ran",
  };
}
