import { createInterface } from "node:readline";
import { identifyProcess } from "../../../host/process-identity.ts";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { Lease } from "../../../stores/files/lease.ts";

/** Another process for the lease's tests: takes leases and claims and releases leases as the lines on stdin say. */
const options = { leaseMs: 60_000, owner: identifyProcess() };
let held: Lease | null = null;

async function obey(line: string): Promise<string> {
  const [verb, dir = ""] = line.split(" ");
  if (verb === "release") {
    await held?.release();
    held = null;
    return "released";
  }
  try {
    if (verb === "claim") {
      await new FileJobStore(dir).claimStart("a1", AbortSignal.timeout(10_000));
      return "claimed";
    }
    held = await Lease.take(dir, options);
    return "won";
  } catch {
    return "refused";
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${await obey(line)}\n`);
}
