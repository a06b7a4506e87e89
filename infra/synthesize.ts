import { App } from "aws-cdk-lib";
import { CloudStack, type CloudStackProps } from "./cloud-stack.ts";
import { STACK_NAME } from "./stack-names.ts";

/** Writes the stack's template and what it needs of this machine into a folder. Asks nothing of any account. */
export function synthesize(outDir: string, props: CloudStackProps): void {
  const app = new App({ outdir: outDir, analyticsReporting: false });
  const stack = new CloudStack(app, STACK_NAME, props);
  void stack;
  app.synth();
}
