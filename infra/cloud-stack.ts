import {
  CfnOutput,
  CliCredentialsStackSynthesizer,
  Duration,
  RemovalPolicy,
  Stack,
  Tags,
} from "aws-cdk-lib";
import * as codebuild from "aws-cdk-lib/aws-codebuild";
import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import * as ec2 from "aws-cdk-lib/aws-ec2";
import * as ecr from "aws-cdk-lib/aws-ecr";
import * as ecs from "aws-cdk-lib/aws-ecs";
import * as iam from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import * as s3 from "aws-cdk-lib/aws-s3";
import * as sfn from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";
import { BUILD_SPEC } from "./build-spec.ts";
import { sweepDefinition } from "./sweep-definition.ts";
import { grantAggregate, grantRunner, grantSweep } from "./grants.ts";
import { assetsBucketName, STACK_NAME } from "./stack-names.ts";

export interface CloudStackProps {
  /** Folder with the aggregate function's bundle. */
  readonly aggregateDir: string;
}

/**
 * Everything that a sweep needs in the user's account. Idle it costs the bytes it stores: no NAT gateway,
 * no address, no running task. What people's results lie in is kept when the stack goes.
 */
export class CloudStack extends Stack {
  constructor(scope: Construct, id: string, props: CloudStackProps) {
    super(scope, id, {
      stackName: STACK_NAME,
      // @ts-expect-error CDK's classes do not hold to exactOptionalPropertyTypes, which its users may have on.
      synthesizer: new CliCredentialsStackSynthesizer({
        fileAssetsBucketName: assetsBucketName("${AWS::AccountId}", "${AWS::Region}"),
      }),
    });
    Tags.of(this).add("benchflow:stack", STACK_NAME);
    const bucket = this.#bucket();
    const table = this.#ledger();
    const network = this.#network();
    const cluster = new ecs.CfnCluster(this, "Cluster", {
      capacityProviders: ["FARGATE", "FARGATE_SPOT"],
    });
    const logGroup = this.#logGroup("TrialLogs");
    const roles = this.#taskRoles(bucket, logGroup);
    const aggregate = this.#aggregate(bucket, props.aggregateDir);
    const images = new ecr.Repository(this, "TaskImages", {
      imageTagMutability: ecr.TagMutability.IMMUTABLE,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const builds = this.#builds(images);
    const sweep = this.#sweep({ bucket, cluster, network, aggregate, roles });
    this.#outputs({
      Bucket: bucket.bucketName,
      Ledger: table.tableName,
      Cluster: cluster.attrArn,
      Sweep: sweep.stateMachineArn,
      Images: images.repositoryUri,
      ImagesName: images.repositoryName,
      Builds: builds.projectName,
      LogGroup: logGroup.logGroupName,
      RunnerRole: roles.runner.roleArn,
      ExecutionRole: roles.execution.roleArn,
    });
  }

  #bucket(): s3.Bucket {
    return new s3.Bucket(this, "Runs", {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules: [
        // Sources of image builds are needed once; results stay.
        { id: "contexts", prefix: "contexts/", expiration: Duration.days(7) },
        { id: "parts", abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
  }

  /** The pot of a run and its leases; leases alone end by themselves. */
  #ledger(): dynamodb.Table {
    return new dynamodb.Table(this, "Ledger", {
      partitionKey: { name: "pk", type: dynamodb.AttributeType.STRING },
      sortKey: { name: "sk", type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: "expires_at",
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  /** A network of its own: public subnets, no way in, S3 and DynamoDB without leaving AWS. */
  #network(): { vpc: ec2.Vpc; securityGroup: ec2.SecurityGroup } {
    const vpc = new ec2.Vpc(this, "Network", {
      maxAzs: 2,
      natGateways: 0,
      // A custom resource with a function of its own otherwise.
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [{ name: "public", subnetType: ec2.SubnetType.PUBLIC }],
      gatewayEndpoints: {
        S3: { service: ec2.GatewayVpcEndpointAwsService.S3 },
        DynamoDb: { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    const securityGroup = new ec2.SecurityGroup(this, "TrialNetwork", {
      // @ts-expect-error As above.
      vpc,
      allowAllOutbound: true,
      description: "benchflow-cloud trials: nothing comes in",
    });
    return { vpc, securityGroup };
  }

  #logGroup(id: string): logs.LogGroup {
    return new logs.LogGroup(this, id, {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  #taskRoles(
    bucket: s3.Bucket,
    logGroup: logs.LogGroup,
  ): { runner: iam.Role; execution: iam.Role } {
    const assumedBy = new iam.ServicePrincipal("ecs-tasks.amazonaws.com");
    const runner = new iam.Role(this, "RunnerRole", { assumedBy });
    const execution = new iam.Role(this, "ExecutionRole", { assumedBy });
    grantRunner(runner, bucket);
    logGroup.grantWrite(execution);
    execution.addToPolicy(
      new iam.PolicyStatement({
        actions: [
          "ecr:BatchCheckLayerAvailability",
          "ecr:BatchGetImage",
          "ecr:GetDownloadUrlForLayer",
        ],
        resources: [this.formatArn({ service: "ecr", resource: "repository", resourceName: "*" })],
      }),
    );
    // GetAuthorizationToken knows no resource (service authorization reference, Amazon ECR).
    execution.addToPolicy(
      new iam.PolicyStatement({ actions: ["ecr:GetAuthorizationToken"], resources: ["*"] }),
    );
    return { runner, execution };
  }

  #aggregate(bucket: s3.Bucket, aggregateDir: string): lambda.Function {
    const aggregate = new lambda.Function(this, "Aggregate", {
      runtime: lambda.Runtime.NODEJS_22_X,
      handler: "index.handler",
      code: lambda.Code.fromAsset(aggregateDir),
      memorySize: 1769,
      timeout: Duration.minutes(15),
      environment: { BENCH_BUCKET: bucket.bucketName },
      logGroup: this.#logGroup("AggregateLogs"),
    });
    grantAggregate(aggregate, bucket);
    return aggregate;
  }

  /** Builds what hostile Dockerfiles say: may push to one repository, reads nothing, holds no secret. */
  #builds(images: ecr.Repository): codebuild.Project {
    const builds = new codebuild.Project(this, "Builds", {
      buildSpec: codebuild.BuildSpec.fromObject(BUILD_SPEC),
      environment: {
        buildImage: codebuild.LinuxBuildImage.STANDARD_7_0,
        computeType: codebuild.ComputeType.SMALL,
        privileged: true,
      },
      timeout: Duration.hours(1),
      logging: { cloudWatch: { logGroup: this.#logGroup("BuildLogs") } },
    });
    images.grantPullPush(builds);
    return builds;
  }

  #sweep(parts: {
    readonly bucket: s3.Bucket;
    readonly cluster: ecs.CfnCluster;
    readonly network: { vpc: ec2.Vpc; securityGroup: ec2.SecurityGroup };
    readonly aggregate: lambda.Function;
    readonly roles: { runner: iam.Role; execution: iam.Role };
  }): sfn.StateMachine {
    const stateMachineName = `${STACK_NAME}-sweep`;
    const { bucket, cluster, network, aggregate, roles } = parts;
    const role = new iam.Role(this, "SweepRole", {
      assumedBy: new iam.ServicePrincipal("states.amazonaws.com"),
    });
    grantSweep(role, { stack: this, bucket, cluster, aggregate, roles, stateMachineName });
    const definition = sweepDefinition({
      clusterArn: cluster.attrArn,
      subnetIds: network.vpc.publicSubnets.map(({ subnetId }) => subnetId),
      securityGroupId: network.securityGroup.securityGroupId,
      bucket: bucket.bucketName,
      aggregateArn: aggregate.functionArn,
    });
    return new sfn.StateMachine(this, "Sweep", {
      stateMachineName,
      role,
      definitionBody: sfn.DefinitionBody.fromString(this.toJsonString(definition)),
      timeout: Duration.days(14),
    });
  }

  #outputs(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) {
      const output = new CfnOutput(this, `Out${name}`, { value });
      output.description = `benchflow-cloud: ${name}`;
    }
  }
}
