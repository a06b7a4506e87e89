import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compareNames } from "../../core/plan/compare-names.ts";
import { synthesize } from "../../infra/synthesize.ts";

interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  readonly DeletionPolicy?: string;
}
interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource?: unknown;
  readonly Condition?: unknown;
}

let dir = "";
let resources: Record<string, Resource> = {};
let text = "";

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "bench-synth-"));
  mkdirSync(join(dir, "aggregate"));
  writeFileSync(join(dir, "aggregate/index.mjs"), "export const handler = () => ({});");
  synthesize(join(dir, "out"), { aggregateDir: join(dir, "aggregate") });
  text = readFileSync(join(dir, "out/BenchflowCloud.template.json"), "utf8");
  resources = JSON.parse(text).Resources;
}, 60_000);

afterAll(() => {
  rmSync(dir, { recursive: true });
});

function ofType(type: string): Resource[] {
  return Object.values(resources).filter((resource) => resource.Type === type);
}

function statements(): Statement[] {
  return [...ofType("AWS::IAM::Policy"), ...ofType("AWS::IAM::ManagedPolicy")].flatMap(
    ({ Properties }) => (Properties["PolicyDocument"] as { Statement: Statement[] }).Statement,
  );
}

/** Of the role whose logical id begins so. */
function statementsOf(role: string): Statement[] {
  const found = Object.keys(resources).find((id) => id.startsWith(`${role}DefaultPolicy`));
  const document = resources[found ?? ""]?.Properties["PolicyDocument"];
  return (document as { Statement: Statement[] }).Statement;
}

const actionsOf = ({ Action }: Statement): string[] => [Action].flat();

describe("the stack", () => {
  test("lets nothing in", () => {
    const groups = ofType("AWS::EC2::SecurityGroup");
    expect(groups).toHaveLength(1);
    for (const { Properties } of groups) expect(Properties["SecurityGroupIngress"]).toBeUndefined();
    expect(ofType("AWS::EC2::SecurityGroupIngress")).toEqual([]);
  });

  test("has nothing that costs while it is idle", () => {
    const types = new Set(Object.values(resources).map(({ Type }) => Type));
    for (const type of ["NatGateway", "EIP", "VPCEndpointService", "Instance"])
      expect(types).not.toContain(`AWS::EC2::${type}`);
    expect(types).not.toContain("AWS::ECS::Service");
    for (const { Properties } of ofType("AWS::EC2::VPCEndpoint"))
      expect(Properties["VpcEndpointType"]).toBe("Gateway");
    expect(ofType("AWS::DynamoDB::Table")[0]?.Properties["BillingMode"]).toBe("PAY_PER_REQUEST");
  });

  test("keeps results, money and images when it goes", () => {
    for (const type of ["AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::ECR::Repository"])
      for (const { DeletionPolicy } of ofType(type)) expect(DeletionPolicy, type).toBe("Retain");
  });

  test("opens its bucket to nobody, and to TLS alone", () => {
    const [bucket] = ofType("AWS::S3::Bucket");
    expect(bucket?.Properties["PublicAccessBlockConfiguration"]).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    expect(JSON.stringify(ofType("AWS::S3::BucketPolicy"))).toContain(
      '"aws:SecureTransport":"false"',
    );
  });

  test("grants every resource only what knows no other, each with its reason", () => {
    // GetAuthorizationToken knows no resource (service authorization reference, Amazon ECR).
    const all = statements().filter(({ Resource }) => Resource === "*");
    expect(all.flatMap(actionsOf)).toEqual([
      "ecr:GetAuthorizationToken",
      "ecr:GetAuthorizationToken",
    ]);
    for (const action of statements().flatMap(actionsOf)) expect(action).not.toContain("*");
  });

  test("lets a runner create objects of attempts, and neither replace nor delete any", () => {
    const own = statementsOf("RunnerRole");
    expect([...new Set(own.flatMap(actionsOf))].toSorted(compareNames)).toEqual([
      "s3:GetObject",
      "s3:PutObject",
    ]);
    const put = own.find((each) => actionsOf(each).includes("s3:PutObject"));
    expect(put?.Condition).toEqual({ Null: { "s3:if-none-match": "false" } });
    expect(JSON.stringify(put?.Resource)).toContain("/runs/*/tree/*");
  });

  test("redrives nothing, and stops only its own", () => {
    expect(statements().flatMap(actionsOf)).not.toContain("states:RedriveExecution");
    const run = statements().find((each) => actionsOf(each).includes("ecs:RunTask"));
    expect(JSON.stringify(run?.Resource)).toContain(":task-definition/bench-*:*");
    expect(JSON.stringify(run?.Condition)).toContain("ecs:cluster");
  });

  test("gives the builds of hostile Dockerfiles one repository, and nothing to read", () => {
    const own = statementsOf("BuildsRole");
    const services = new Set(own.flatMap(actionsOf).map((action) => action.split(":")[0] ?? ""));
    expect([...services].toSorted(compareNames)).toEqual(["codebuild", "ecr", "logs"]);
    const [project] = ofType("AWS::CodeBuild::Project");
    expect(JSON.stringify(project?.Properties["Environment"])).not.toContain(
      "EnvironmentVariables",
    );
  });

  test("needs no bootstrap and no Docker to deploy", () => {
    expect(text).not.toContain("BootstrapVersion");
    const assets = JSON.parse(readFileSync(join(dir, "out/BenchflowCloud.assets.json"), "utf8"));
    expect(assets.dockerImages).toEqual({});
  });

  test("has a machine that catches everything and is no larger than a state machine may be", () => {
    const definition = JSON.stringify(ofType("AWS::StepFunctions::StateMachine")[0]?.Properties);
    expect(definition.length).toBeLessThan(100_000);
    for (const word of ["States.ALL", "States.DataLimitExceeded", "ToleratedFailurePercentage"])
      expect(definition).toContain(word);
    expect(
      ofType("AWS::StepFunctions::StateMachine")[0]?.Properties["StateMachineType"] ?? "STANDARD",
    ).toBe("STANDARD");
  });
});
