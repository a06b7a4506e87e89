/** Name of the stack; one an account and region. */
export const STACK_NAME = "BenchflowCloud";

/** CDK puts what a stack needs of this machine (the function's code) there; made by the deploy. */
export function assetsBucketName(account: string, region: string): string {
  return `benchflow-assets-${account}-${region}`;
}
