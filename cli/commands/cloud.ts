import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import {
  deployCloud,
  requireDeployPackages,
  synthesizeCloud,
} from "../../api/cloud/deploy-cloud.ts";
import { BenchError } from "../../core/errors.ts";
import type { CliContext, ExitCode } from "../context.ts";

export interface DeployOptions {
  readonly synthOnly?: boolean;
  readonly out: string;
  readonly yes?: boolean;
}

const WHAT = [
  "This creates in your AWS account, as stack BenchflowCloud:",
  "  a bucket and a table (kept when the stack goes), a network of public subnets without any way in,",
  "  a cluster without servers, a state machine, a function, a build project, an image repository, logs.",
  "Idle it costs the bytes that it stores. A sweep costs Fargate's seconds; `bench run TASKS -a oracle --env fargate --dry-run`\n  shows what would run.",
];

/** `bench cloud deploy`: says what is created, asks, deploys. The template goes to a folder on request. */
export async function runDeploy(context: CliContext, options: DeployOptions): Promise<ExitCode> {
  if (options.synthOnly === true) {
    const outDir = resolve(context.cwd, options.out);
    await synthesizeCloud(outDir);
    context.out.write(`${outDir}/BenchflowCloud.template.json\n`);
    return 0;
  }
  await requireDeployPackages();
  for (const line of WHAT) context.err.write(`${line}\n`);
  if (options.yes !== true) await confirm(context);
  const stack = await deployCloud({
    env: context.env,
    onLine: (line) => {
      context.err.write(`${line}\n`);
    },
  });
  context.out.write(`results lie in s3://${stack.OutBucket}/runs/\n`);
  context.out.write("next: bench run examples/tasks -a oracle --env fargate --dry-run\n");
  return 0;
}

async function confirm(context: CliContext): Promise<void> {
  if (!context.err.isTerminal) {
    throw new BenchError("usage", "deploying asks, and nobody is here to answer", {
      next: "pass --yes",
    });
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asking.question("Deploy? [y/N] ", { signal: context.signal });
    if (/^y(?:es)?$/iu.test(answer.trim())) return;
  } finally {
    asking.close();
  }
  throw new BenchError("interrupted", "nothing was deployed", { next: "bench cloud deploy" });
}
