import { type CloudAccount, openCloudAccount } from "../../api/cloud/cloud-account.ts";
import { runBench } from "../e2e/run-bench.ts";
import { emulatedEnv } from "./emulated-account.ts";

/** Deploys the stack to the emulated account as a person would. */
export async function deployToEmulator(): Promise<CloudAccount> {
  const env = { ...emulatedEnv(), AWS_EC2_METADATA_DISABLED: "true" };
  const deployed = await runBench(["cloud", "deploy", "--yes"], { cwd: process.cwd(), env });
  if (deployed.code !== 0) throw new Error(deployed.stderr);
  return await openCloudAccount(emulatedEnv());
}
